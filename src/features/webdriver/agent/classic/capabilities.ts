/**
 * The capabilities of a session. The browser runs already, so what a driver would start one with is refused by its
 * name, and the driver gets no more than is read here: it could start any program.
 */
import { z } from "zod";
import { longestTimeoutMs } from "../../calls.ts";
import { errorAnswer, type WebDriverAnswer } from "../../webdriver-answer.ts";

const ms = z.int().min(0).max(longestTimeoutMs);

/** The driver has its usual ones for those that are left out. */
const Timeouts = z.strictObject({
  script: ms.optional(),
  pageLoad: ms.optional(),
  implicit: ms.optional(),
});

const promptBehavior = z.enum(["dismiss", "accept", "dismiss and notify", "accept and notify", "ignore"]);

const chrome = ["chrome", "chromium", "chrome-headless-shell"];

const oneOf = (names: readonly string[], what: string) =>
  z.string().refine((name) => names.includes(name.toLowerCase()), what);

/** Options that change nothing: clients send their fields empty. */
const isEmpty = (value: unknown): boolean =>
  value === null || value === false || (typeof value === "object" && Object.keys(value).length === 0);

const runsAlready = "the browser runs already, with the settings of its session";

const ChromeOptions = z.record(z.string(), z.unknown()).superRefine((options, context) => {
  for (const [name, value] of Object.entries(options)) {
    if (isEmpty(value) || (name === "w3c" && value === true)) continue;
    context.addIssue({ code: "custom", path: [name], message: runsAlready });
  }
});

const Capabilities = z.strictObject({
  browserName: oneOf(chrome, "the browser is chrome").optional(),
  platformName: oneOf(["linux", "any"], "the platform is linux").optional(),
  acceptInsecureCerts: z.literal(false, "the browser checks certificates").optional(),
  pageLoadStrategy: z.enum(["normal", "eager", "none"]).optional(),
  setWindowRect: z.boolean().optional(),
  strictFileInteractability: z.boolean().optional(),
  timeouts: Timeouts.optional(),
  unhandledPromptBehavior: z.union([promptBehavior, z.record(z.string(), promptBehavior)]).optional(),
  webSocketUrl: z.boolean().optional(),
  // By which webdriverio decides for itself.
  "wdio:enforceWebDriverClassic": z.boolean().optional(),
  "goog:chromeOptions": ChromeOptions.optional(),
});
type Capabilities = z.infer<typeof Capabilities>;

const mostAlternatives = 16;

const Wanted = z.record(z.string(), z.unknown());

/** Older clients send `desiredCapabilities` beside it, which says the same. */
const NewSession = z.object({
  capabilities: z.object({
    alwaysMatch: Wanted.default({}),
    firstMatch: z.array(Wanted).min(1).max(mostAlternatives).default([{}]),
  }),
});

const describe = ({ issues }: z.ZodError): string => {
  const [issue] = issues;
  if (issue?.code === "unrecognized_keys") return `${[...issue.path, issue.keys[0]].join(".")}: ${runsAlready}`;
  return `${issue?.path.join(".")}: ${issue?.message}`;
};

/** Why the body of `POST timeouts` is refused; undefined: it is not. */
export const whyNoTimeouts = (body: unknown): WebDriverAnswer | undefined => {
  const { error } = Timeouts.safeParse(body ?? {});
  return error && errorAnswer("invalid argument", describe(error));
};

/** What is asked for by null is not asked for. */
const withoutNulls = (wanted: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null));

/** The first alternative that this browser can be, or the answer that says why none is. */
export const matchCapabilities = (body: unknown): { capabilities: Capabilities } | { refused: WebDriverAnswer } => {
  const asked = NewSession.safeParse(body);
  if (!asked.success) return { refused: errorAnswer("invalid argument", describe(asked.error)) };
  const { alwaysMatch, firstMatch } = asked.data.capabilities;
  let why = "";
  for (const alternative of firstMatch) {
    const twice = Object.keys(alternative).find((name) => Object.hasOwn(alwaysMatch, name));
    if (twice) return { refused: errorAnswer("invalid argument", `${twice} is in alwaysMatch and in firstMatch`) };
    const read = Capabilities.safeParse(withoutNulls({ ...alwaysMatch, ...alternative }));
    if (read.success) return { capabilities: read.data };
    why ||= describe(read.error);
  }
  return { refused: errorAnswer("session not created", why) };
};

/** The body of the driver's own command. `devTools`: host and port where it finds the browser. */
export const forDriver = (
  { pageLoadStrategy, strictFileInteractability, timeouts, unhandledPromptBehavior }: Capabilities,
  devTools: string,
): object => ({
  capabilities: {
    alwaysMatch: {
      ...{ pageLoadStrategy, strictFileInteractability, timeouts, unhandledPromptBehavior },
      "goog:chromeOptions": { debuggerAddress: devTools },
    },
  },
});

/** What becomes of dialogs, in the words of WebDriver BiDi, which tells of all of them; undefined: it is not said. */
export const promptsOf = ({ unhandledPromptBehavior: asked }: Capabilities): Record<string, string> | undefined => {
  if (asked === undefined) return undefined;
  const all = typeof asked === "string" ? { default: asked } : asked;
  return Object.fromEntries(Object.entries(all).map(([kind, what]) => [kind, what.replace(/ and notify$/, "")]));
};

/** What clients are told of a session: not where its driver has files and finds the browser. */
const told = [
  "acceptInsecureCerts",
  "browserVersion",
  "pageLoadStrategy",
  "proxy",
  "setWindowRect",
  "strictFileInteractability",
  "timeouts",
  "unhandledPromptBehavior",
  "userAgent",
];

const Created = z.object({
  value: z.object({ sessionId: z.string().regex(/^[\w-]{1,64}$/), capabilities: z.record(z.string(), z.unknown()) }),
});

/** The driver's answer as clients get it, and the session's id; undefined for one that nobody understands. */
export const readCreated = (body: unknown): { id: string; body: WebDriverAnswer["body"] } | undefined => {
  const { data } = Created.safeParse(body);
  if (!data) return undefined;
  const { sessionId, capabilities: all } = data.value;
  const known = Object.fromEntries(told.filter((name) => Object.hasOwn(all, name)).map((name) => [name, all[name]]));
  // It calls a browser that it did not start by its product, and knows no platform of it.
  const capabilities = { ...known, browserName: chrome[0], platformName: "linux" };
  return { id: sessionId, body: { value: { sessionId, capabilities } } };
};
