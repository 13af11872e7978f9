import fc from "fast-check";
import { ZodError } from "zod";
import { telemetryCategories } from "../../../src/core/model/settings/telemetry.ts";
import { handleEvent } from "../../../src/features/live-view/agent/events.ts";
import { createFirstNavigationFinder } from "../../../src/features/sites/agent/first-navigation.ts";
import { watchNavigation } from "../../../src/features/sites/agent/follow-navigation.ts";
import { createJudge } from "../../../src/features/sites/judge/judge.ts";
import { builtInRules, readJudgeRules } from "../../../src/features/sites/judge/read-rules.ts";
import { targetOf } from "../../../src/features/sites/rules/target.ts";
import { readPage } from "../../../src/features/sites/visit/read-page.ts";
import { mayBeInterstitial } from "../../../src/features/sites/visit/restrict-page.ts";
import type { Visit } from "../../../src/features/sites/visit/visit.ts";
import { wallError } from "../../../src/features/sites/visit/wall-error.ts";
import { startCapture } from "../../../src/features/telemetry/agent/capture.ts";
import { createMaskedValues } from "../../../src/features/telemetry/agent/masked-values.ts";
import { createRecorder } from "../../../src/features/telemetry/agent/recorder.ts";
import { TelemetryRecord } from "../../../src/features/telemetry/telemetry-event.ts";
import { choosePage, chooseTargets, frameFilter } from "../../../src/features/vaults/fill/choose-targets.ts";
import { FillRefused } from "../../../src/features/vaults/fill/fill-result.ts";
import { locateFields } from "../../../src/features/vaults/fill/locate-fields.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import type { CdpConnection, CdpEvent } from "../../../src/platform/cdp/cdp-connection.ts";
import { cdpEvent, type Event, eventKeys } from "../inputs/cdp-events.ts";
import { type Json, mutatedJson } from "../inputs/mutated-json.ts";
import { anyText, mutatedText } from "../inputs/mutated-text.ts";
import { type FuzzTarget, must, orRefused, orRefusedSync } from "../target.ts";

/** What a vault has filled in, and how a page could write it into an address. */
const secrets = ["p@ss w0rd!", "ünï/cödé?&=", "plainsecret", "quo\"te's<>", "50%25#1"];
const leak = fc.tuple(fc.constantFrom(...secrets), fc.nat(4)).map(([secret, how]) => {
  const plain =
    ["https://a.example/", "https://a.example/?q=", "https://a.example/#", "https://a.example/a;", ""][how] + secret;
  return URL.parse(plain)?.href ?? plain;
});

const mutatedEvent: fc.Arbitrary<Event> = cdpEvent.chain(({ method, params, sessionId }) =>
  mutatedJson(fc.constant(params), { keys: eventKeys, mostChanges: 2 }).map((changed) => ({
    method,
    params: changed,
    sessionId,
  })),
);

const findings = {
  url: "https://a.example/",
  origin: "https://a.example",
  hasFocus: true,
  isScripted: true,
  found: [{ isValid: true, matched: 1, editable: [1], locked: [] }],
};
const targets = [
  { targetId: "a", type: "page", url: "https://a.example/", title: "", attached: false },
  { targetId: "b", type: "page", url: "chrome://settings", title: "", attached: false },
];

type Input =
  | { kind: "capture"; events: Event[]; isProper: boolean; leak: string }
  | { kind: "observe"; events: Event[]; isProper: boolean }
  | { kind: "view"; event: Event }
  | { kind: "judge"; visit: Omit<Visit, "error" | "headers"> & { headers: { [name: string]: string } }; read: Json }
  | { kind: "fill"; answers: Json[]; parents: number[]; targets: Json; pageUrl: string | undefined };

const events = (isProper: boolean) =>
  fc.record({
    events: fc.array(isProper ? cdpEvent : mutatedEvent, { minLength: 1, maxLength: 6 }),
    isProper: fc.constant(isProper),
  });

const inputs = fc.oneof(
  ...[true, false].flatMap((isProper) => [
    fc.tuple(events(isProper), leak).map(([some, text]) => ({ kind: "capture" as const, ...some, leak: text })),
    events(isProper).map((some) => ({ kind: "observe" as const, ...some })),
  ]),
  mutatedEvent.map((event) => ({ kind: "view" as const, event })),
  fc.record({
    kind: fc.constant("judge" as const),
    visit: fc.record({
      status: fc.constantFrom(undefined, 200, 403, 429, 503),
      headers: fc
        .array(
          fc.tuple(
            fc.constantFrom("x-browserpool-refused-by", "server", "cf-mitigated", "set-cookie"),
            fc.oneof(fc.constantFrom("rules", "constructor", "__proto__", "toString", "challenge"), anyText()),
          ),
          { maxLength: 3 },
        )
        .map((entries) => Object.fromEntries(entries)),
      url: mutatedText(fc.constantFrom("https://example.com/", "chrome-error://chromewebdata/")),
      redirects: fc.array(fc.webUrl(), { maxLength: 2 }),
      title: mutatedText(fc.constantFrom("Just a moment...", "Access Denied", "Shop")),
      text: mutatedText(fc.constantFrom("Verify you are human", "x".repeat(5000), "access denied ".repeat(300))),
      markup: mutatedText(
        fc.constantFrom("<a href=x>".repeat(100), "<html>", '<script src="/cdn-cgi/challenge-platform/x">'),
      ),
      frames: fc.array(fc.webUrl(), { maxLength: 2 }),
      isBlank: fc.constantFrom(undefined, true, false),
    }),
    read: mutatedJson(fc.constant({ title: "t", text: "x", markup: "<p>" })),
  }),
  fc.record({
    kind: fc.constant("fill" as const),
    answers: fc.array(mutatedJson(fc.constant(findings), { keys: Object.keys(findings) }), {
      minLength: 1,
      maxLength: 4,
    }),
    parents: fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
    targets: mutatedJson(fc.constant(targets), { keys: ["type", "url", "subtype", "targetId"] }),
    pageUrl: fc.constantFrom(undefined, "https://a.example/", "__proto__"),
  }),
) as fc.Arbitrary<Input>;

const decoded = (text: string): string =>
  text.replace(/(%[0-9a-f]{2})+/gi, (some) => Buffer.from(some.replaceAll("%", ""), "hex").toString());

/** All that an agent's connection does here is to take commands and to give events. */
const connection = (): { cdp: CdpConnection; tell(event: Event): void } => {
  let listener: (event: CdpEvent) => void = () => undefined;
  const cdp = {
    send: async () => ({}),
    onEvent: (next: (event: CdpEvent) => void) => {
      listener = next;
    },
    isOpen: () => true,
    closed: new Promise<void>(() => undefined),
  } as unknown as CdpConnection;
  return { cdp, tell: (event) => listener(event) };
};

const log = createLogger("silent", "fuzz");
// Pictures and samples are taken by timers, and from the browser itself.
const categories = new Set(telemetryCategories.filter((one) => one !== "screenshot" && one !== "system"));
const shown = { isFilling: () => false, onFill: () => () => undefined, mayShow: async () => true };

const checkCapture = async ({ events: given, isProper, leak: leaked }: Extract<Input, { kind: "capture" }>) => {
  const masked = createMaskedValues();
  masked.add(secrets);
  const recorder = createRecorder(masked);
  const { cdp, tell } = connection();
  const stop = await startCapture({ cdp, recorder, categories, shown, log, answersDialogs: () => false });
  const targetInfo = { targetId: "a", type: "page", title: "", url: leaked };
  tell({ method: "Target.attachedToTarget", params: { sessionId: "a", targetInfo }, sessionId: "" });
  tell({ method: "Target.targetCreated", params: { targetInfo }, sessionId: "" });
  for (const event of given) tell({ ...event, sessionId: "a" });
  tell({ method: "Page.loadEventFired", params: {}, sessionId: "a" });
  stop();
  recorder.close();
  for (const record of recorder.after(0)) {
    const line = JSON.stringify(record);
    const { error } = TelemetryRecord.safeParse(JSON.parse(line));
    if (isProper) must(!error, `an event that no replica takes: ${error?.message} ${line.slice(0, 500)}`);
    for (const secret of secrets)
      must(
        !decoded(line).includes(secret) && !decoded(line).includes(JSON.stringify(secret).slice(1, -1)),
        `${secret} is in an event: ${line.slice(0, 500)}`,
      );
  }
};

const checkObserve = ({ events: given, isProper }: Extract<Input, { kind: "observe" }>): void => {
  const finder = createFirstNavigationFinder({ ignored: ["about:blank"], userAgent: "x" });
  finder.addPage("a", "a");
  finder.addPage("b", "b");
  let followed: ReturnType<typeof watchNavigation> | undefined;
  const take = (event: CdpEvent): void => {
    const found = finder.take(event);
    if (found && found !== "missed") {
      found.isPlain();
      followed = watchNavigation(found, {
        isPublic: (address) => address !== "10.0.0.1",
        onLed() {},
        onSilent() {},
        onLeft() {},
      });
    }
    followed?.take(event);
  };
  const begin = {
    requestId: "a",
    frameId: "a",
    type: "Document",
    request: { url: "https://example.com/", method: "GET", headers: {} },
  };
  take({ method: "Network.requestWillBeSent", params: begin, sessionId: "a" });
  // The observation ends with what the browser's protocol does not have.
  for (const event of given)
    orRefusedSync(
      () => take({ ...event, sessionId: "a" }),
      (error) => !isProper && error instanceof TypeError,
    );
};

const judge = createJudge(readJudgeRules({ builtIn: builtInRules }));
const site = targetOf("https://example.com/");

const checkJudge = async ({ visit, read }: Extract<Input, { kind: "judge" }>): Promise<void> => {
  const send = async (method: string) =>
    method === "Runtime.evaluate" ? { result: { value: read } } : { executionContextId: 1 };
  const page = await orRefused(
    () => readPage({ send } as never, "frame"),
    (error) => error instanceof ZodError,
  );
  const error = wallError(visit.headers);
  must(error === undefined || (typeof error === "string" && error.startsWith("ERR_")), `the error ${String(error)}`);
  const seen = { ...visit, ...("value" in page ? page.value : {}), error };
  mayBeInterstitial(seen, seen);
  if (typeof site !== "string") judge(seen, site);
};

const isFillRefused = (error: unknown): boolean => error instanceof FillRefused;
const allowed = ["https://a.example"];

const checkFill = async ({ answers, parents, targets: infos, pageUrl }: Extract<Input, { kind: "fill" }>) => {
  const send = async (_method: string, params: { objectId: string }) => ({
    result: { value: answers[Number(params.objectId)] },
  });
  const frames = answers.map((_, index) => ({ sessionId: "s", objectId: `${index}`, parent: undefined as unknown }));
  // A frame is in one of those before it.
  for (const [index, frame] of frames.entries()) if (index > 0) frame.parent = frames[(parents[index] ?? 0) % index];
  const located = await locateFields({ send } as never, frames as never, { selectors: ["a", "b"], limitMs: 1000 });
  const chosen = orRefusedSync(() => chooseTargets(located, ["a", "b"], frameFilter(located, allowed)), isFillRefused);
  if ("value" in chosen)
    for (const { frame } of chosen.value) {
      const own = located.find((one) => one.frame === frame);
      must(own !== undefined && allowed.includes(own.origin), "a field of an origin that is not allowed");
    }
  if (Array.isArray(infos) && infos.every((info) => typeof (info as { url?: unknown } | null)?.url === "string"))
    orRefusedSync(() => choosePage(infos as never, pageUrl), isFillRefused);
};

const noHandlers = Object.fromEntries(
  [
    "Target.targetCrashed",
    "Page.screencastFrame",
    "Page.javascriptDialogOpening",
    "Page.frameNavigated",
    "Input.dragIntercepted",
  ].map((method) => [method, () => undefined]),
);

export const target: FuzzTarget<Input> = {
  about:
    "What hostile pages and their renderers have Chromium tell the agent: events for telemetry, observation, the live view and the judge, answers to fills. The agent survives all of it, no filled value is in an event, every proper event is one that replicas take, and no field of another origin is filled.",
  inputs,
  open: () => ({
    async check(input) {
      switch (input.kind) {
        case "capture":
          return checkCapture(input);
        case "observe":
          return checkObserve(input);
        case "view":
          return handleEvent(input.event, noHandlers as never);
        case "judge":
          return checkJudge(input);
        default:
          return checkFill(input);
      }
    },
  }),
};
