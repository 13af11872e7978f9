/** Which telemetry of a browser is captured and where it goes (the TELEMETRY rules). */
import { z } from "zod";
import { documentedForms } from "../../../platform/kinds/document-rules.ts";
import { validations } from "../../../platform/kinds/kind.ts";
import { Selector } from "../../../platform/kinds/selector.ts";
import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";

/** What each category captures; the keys are the categories. */
const categoryTexts = {
  captcha: "Outcomes of attempts to solve a captcha. On by default.",
  connection: "Clients that attach to and detach from the browser. On by default.",
  console: "Console output and uncaught exceptions of pages. Off by default.",
  control: "What clients do to the browser, such as CDP commands. On by default.",
  interaction: "Clicks, key presses and scrolling in pages. Off by default.",
  network: "Requests and responses of pages. Off by default.",
  page: "Navigation and loading of pages. Off by default.",
  platform: "What the platform does around the browser. Off by default.",
  screenshot: "Pictures of the viewport, taken periodically. Off by default.",
  system: "Health of the browser's machine, such as crashes. On by default.",
} as const;

export type TelemetryCategory = keyof typeof categoryTexts;
const isCategory = (name: string): name is TelemetryCategory => Object.hasOwn(categoryTexts, name);
/** The names of all categories, in the order of the document. */
export const telemetryCategories = Object.keys(categoryTexts).filter(isCategory);

const Category = z.object({ enabled: z.boolean().optional().describe("Whether the category is captured.") });

const category = (name: TelemetryCategory) => Category.describe(categoryTexts[name]).optional();

const ControlCategory = Category.extend({
  cdp: z
    .object({
      excludedMethods: z
        .array(z.string().min(1).max(128))
        .max(1000)
        .optional()
        .describe("CDP methods that are left out, e.g. Input.dispatchMouseEvent."),
    })
    .optional()
    .describe("How CDP commands are captured."),
}).describe(categoryTexts.control);

const TelemetryCategories = z.object({
  captcha: category("captcha"),
  connection: category("connection"),
  console: category("console"),
  control: ControlCategory.optional(),
  interaction: category("interaction"),
  network: category("network"),
  page: category("page"),
  platform: category("platform"),
  screenshot: category("screenshot"),
  system: category("system"),
});

/**
 * Messages are shared with the HTTP API, which checks the same rules on requests (core/model/settings/telemetry.ts).
 */
const telemetryMessages = {
  categoriesWhileOff: "enabled: false cannot be combined with category settings",
  destinationWhileOff: "a destination cannot be combined with enabled: false",
  destinationMissing: "an enabled export needs a destination",
} as const;

/** Off with these properties alone; on, or not said, with any. */
const offWith = (properties: Record<string, unknown>): Record<string, unknown>[] => [
  { properties: { enabled: { const: true } } },
  { properties: { enabled: { const: false }, ...properties }, required: ["enabled"] },
];

const Otlp = documentedForms(
  z
    .object({
      enabled: z.boolean().optional().describe("Whether telemetry is exported. A destination implies true."),
      destination: Selector.describe("The telemetry destination to export to, by id or by name.").optional(),
    })
    .meta(
      validations(
        {
          rule: "!has(self.enabled) || self.enabled || !has(self.destination)",
          message: telemetryMessages.destinationWhileOff,
        },
        {
          rule: "!has(self.enabled) || !self.enabled || has(self.destination)",
          message: telemetryMessages.destinationMissing,
        },
      ),
    )
    .describe("Export by the OpenTelemetry protocol."),
  offWith({ destination: { not: {} } }),
);

const anyCategory = telemetryCategories.map((name) => `has(self.browser.${name})`).join(" || ");

const noCategory = { not: { anyOf: telemetryCategories.map((name) => ({ required: [name] })) } };

/** The settings of a pool, a browser or a session; short forms are merged by core/model/settings/telemetry.ts. */
export const Telemetry = documentedForms(
  z
    .object({
      enabled: z
        .boolean()
        .optional()
        .describe(
          "True captures the default set (control, connection, system, captcha) with the settings under browser on top.",
        ),
      browser: TelemetryCategories.optional().describe("Settings per category of events."),
      export: z.object({ otlp: Otlp.optional() }).optional().describe("Where telemetry is exported to."),
      storage: z
        .object({ enabled: z.boolean().optional().describe("Whether captured telemetry is stored.") })
        .optional()
        .describe("Storage of captured telemetry."),
    })
    .meta(
      validations({
        rule: `!has(self.enabled) || self.enabled || !has(self.browser) || !(${anyCategory})`,
        message: telemetryMessages.categoriesWhileOff,
      }),
    ),
  offWith({ browser: noCategory }),
);
export type Telemetry = z.infer<typeof Telemetry>;

// Merges telemetry settings into others: a PATCH into a pool's, a lease's into its pool's, a new pool's into none
// (POOL-PATCH-11, TELEMETRY-2 to TELEMETRY-7).
//
// The API stores and shows the resolved form: either nothing (no capture), or `enabled: true` with an `enabled` flag
// for each of the ten categories, and `export` and `storage` where they were set. It resolves to itself. YAML may
// contain any shorter form; `resolveTelemetry` resolves it.
//
//   omitted, null, {}        unchanged
//   enabled: false           nothing; with category settings it is refused
//   enabled: true            the default set with the given categories on top; export and storage merge
//   categories alone         merge onto the present set, or onto the default set where nothing is captured
//   every category off       stays resolved, with each flag false: if it were cleared, a repetition of the same request
//                            would fall back to the default set
//   export, storage          merge; turned on where nothing is captured, they start the default set

type MergedTelemetry = { ok: true; telemetry: Telemetry | undefined } | { ok: false; problems: SpecProblem[] };

type Categories = NonNullable<Telemetry["browser"]>;
type OtlpExport = NonNullable<NonNullable<Telemetry["export"]>["otlp"]>;

const onByDefault = new Set<TelemetryCategory>(["control", "connection", "system", "captcha"]);

const defaultCategories = (): Categories =>
  Object.fromEntries(telemetryCategories.map((name) => [name, { enabled: onByDefault.has(name) }]));

/** The category settings that are not empty, unlike `{captcha: {}}` and `{control: {cdp: {}}}`. */
const settingsOf = (browser: Categories | undefined): [TelemetryCategory, NonNullable<Categories["control"]>][] =>
  telemetryCategories.flatMap((name) => {
    const { enabled, cdp }: NonNullable<Categories["control"]> = browser?.[name] ?? {};
    const said = { ...(enabled === undefined ? {} : { enabled }), ...(cdp?.excludedMethods ? { cdp } : {}) };
    return Object.keys(said).length > 0 ? [[name, said]] : [];
  });

const turnsOn = (otlp: OtlpExport | undefined): boolean => otlp?.enabled === true || otlp?.destination !== undefined;

/** Whether the settings turn something on; if so, they start the capture when nothing is captured yet. */
const asksForCapture = (patch: Telemetry): boolean =>
  patch.enabled === true ||
  settingsOf(patch.browser).length > 0 ||
  turnsOn(patch.export?.otlp) ||
  patch.storage?.enabled === true;

const isEmptyPatch = (patch: Telemetry): boolean =>
  !asksForCapture(patch) &&
  [patch.enabled, patch.export?.otlp?.enabled, patch.storage?.enabled].every((flag) => flag === undefined);

const mergeCategories = (base: Categories, browser: Categories | undefined): Categories => ({
  ...base,
  ...Object.fromEntries(settingsOf(browser).map(([name, said]) => [name, { ...base[name], ...said }])),
});

const mergeOtlp = (base: OtlpExport | undefined, patch: OtlpExport | undefined): OtlpExport | undefined => {
  if (patch?.enabled === false) return { enabled: false };
  const destination = patch?.destination ?? base?.destination;
  return turnsOn(patch) ? { enabled: true, ...(destination ? { destination } : {}) } : base;
};

/** Merges checked settings into a resolved form. */
const mergeResolved = (base: Telemetry | undefined, patch: Telemetry): Telemetry | undefined => {
  if (patch.enabled === false || (!base && !asksForCapture(patch))) return undefined;
  const start = patch.enabled ? undefined : base?.browser;
  const browser = mergeCategories(start ?? defaultCategories(), patch.browser);
  const otlp = mergeOtlp(base?.export?.otlp, patch.export?.otlp);
  const stored = patch.storage?.enabled ?? base?.storage?.enabled;
  return {
    enabled: true,
    browser,
    ...(otlp ? { export: { otlp } } : {}),
    ...(stored === undefined ? {} : { storage: { enabled: stored } }),
  };
};

/** The resolved form of a spec's telemetry; undefined when nothing is captured. */
export const resolveTelemetry = (written: Telemetry | undefined): Telemetry | undefined =>
  mergeResolved(undefined, written ?? {});

const otlpProblem = (patch: OtlpExport, present: OtlpExport | undefined): SpecProblem | undefined => {
  const path = ["telemetry", "export", "otlp"];
  const { id, name } = patch.destination ?? {};
  if (patch.destination && (id === undefined) === (name === undefined))
    return problemAt([...path, "destination"], "give exactly one of id and name");
  if (patch.enabled === false && patch.destination)
    return problemAt([...path, "destination"], telemetryMessages.destinationWhileOff);
  if (patch.enabled && !patch.destination && !present?.destination)
    return problemAt([...path, "destination"], telemetryMessages.destinationMissing);
  return undefined;
};

/** The problems of settings that are merged into `current`. Paths start with `telemetry`. */
const telemetryProblems = (current: Telemetry | undefined, patch: Telemetry): SpecProblem[] => {
  const offWithCategories = patch.enabled === false && Object.keys(patch.browser ?? {}).length > 0;
  const present = patch.enabled === false ? undefined : current; // Cleared settings have no destination.
  const otlp = otlpProblem(patch.export?.otlp ?? {}, present?.export?.otlp);
  return [
    ...(offWithCategories ? [problemAt(["telemetry", "browser"], telemetryMessages.categoriesWhileOff)] : []),
    ...(otlp ? [otlp] : []),
  ];
};

/**
 * `current`: as stored, resolved or not. `patch`: as requested, in camelCase. Returns the resolved form, or `current`
 * unchanged when the patch is empty.
 */
export const mergeTelemetry = (
  current: Telemetry | undefined,
  patch: Telemetry | null | undefined,
): MergedTelemetry => {
  if (!patch) return { ok: true, telemetry: current };
  const problems = telemetryProblems(current, patch);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, telemetry: isEmptyPatch(patch) ? current : mergeResolved(resolveTelemetry(current), patch) };
};
