/**
 * Telemetry settings laid over telemetry settings: a PATCH over a pool's, a lease's override over its pool's, a new
 * pool's over nothing (POOL-PATCH-11, TELEMETRY-2 to TELEMETRY-7).
 *
 * The resolved form is what is stored and echoed: either nothing (no capture), or `enabled: true` with an `enabled` flag
 * for each of the ten categories, and `export` and `storage` where they were set. It resolves to itself. YAML may hold
 * any shorter form; `resolveTelemetry` gives what it means.
 *
 *   omitted, null, {}        unchanged
 *   enabled: false           nothing; with category settings it is refused
 *   enabled: true            the default set with the given categories on top; export and storage merge
 *   categories alone         merge onto the present set, or onto the default set where nothing is captured
 *   every category off       stays resolved, with each flag false: clearing it instead would let a repetition of the
 *                            same request fall back to the default set
 *   export, storage          merge; turned on where nothing is captured, they start the default set
 */
import {
  type Telemetry,
  type TelemetryCategory,
  telemetryCategories,
  telemetryMessages,
} from "../resources/telemetry.ts";
import { problemAt, type SpecProblem } from "./problem.ts";

export type MergedTelemetry = { ok: true; telemetry: Telemetry | undefined } | { ok: false; problems: SpecProblem[] };

type Categories = NonNullable<Telemetry["browser"]>;
type Otlp = NonNullable<NonNullable<Telemetry["export"]>["otlp"]>;

const onByDefault = new Set<TelemetryCategory>(["control", "connection", "system", "captcha"]);

const defaultCategories = (): Categories =>
  Object.fromEntries(telemetryCategories.map((name) => [name, { enabled: onByDefault.has(name) }]));

/** Category settings that say something: `{captcha: {}}` and `{control: {cdp: {}}}` do not. */
const settingsOf = (browser: Categories | undefined): [TelemetryCategory, NonNullable<Categories["control"]>][] =>
  telemetryCategories.flatMap((name) => {
    const { enabled, cdp }: NonNullable<Categories["control"]> = browser?.[name] ?? {};
    const said = { ...(enabled === undefined ? {} : { enabled }), ...(cdp?.excludedMethods ? { cdp } : {}) };
    return Object.keys(said).length > 0 ? [[name, said]] : [];
  });

const turnsOn = (otlp: Otlp | undefined): boolean => otlp?.enabled === true || otlp?.destination !== undefined;

/** Whether the settings want something captured, so that they start capture where there is none. */
const asksForCapture = (patch: Telemetry): boolean =>
  patch.enabled === true ||
  settingsOf(patch.browser).length > 0 ||
  turnsOn(patch.export?.otlp) ||
  patch.storage?.enabled === true;

const saysNothing = (patch: Telemetry): boolean =>
  !asksForCapture(patch) &&
  [patch.enabled, patch.export?.otlp?.enabled, patch.storage?.enabled].every((flag) => flag === undefined);

const mergeCategories = (base: Categories, browser: Categories | undefined): Categories => ({
  ...base,
  ...Object.fromEntries(settingsOf(browser).map(([name, said]) => [name, { ...base[name], ...said }])),
});

const mergeOtlp = (base: Otlp | undefined, patch: Otlp | undefined): Otlp | undefined => {
  if (patch?.enabled === false) return { enabled: false };
  const destination = patch?.destination ?? base?.destination;
  return turnsOn(patch) ? { enabled: true, ...(destination ? { destination } : {}) } : base;
};

/** Lays settings without problems over a resolved form. */
const lay = (base: Telemetry | undefined, patch: Telemetry): Telemetry | undefined => {
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

/** The resolved form of what a spec holds. Undefined: nothing is captured. */
export const resolveTelemetry = (written: Telemetry | undefined): Telemetry | undefined =>
  lay(undefined, written ?? {});

const otlpProblem = (patch: Otlp, present: Otlp | undefined): SpecProblem | undefined => {
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

/** What is wrong with settings that are laid over `current`. Paths start with `telemetry`. */
const telemetryProblems = (current: Telemetry | undefined, patch: Telemetry): SpecProblem[] => {
  const offWithCategories = patch.enabled === false && Object.keys(patch.browser ?? {}).length > 0;
  const present = patch.enabled === false ? undefined : current; // What is cleared has no destination to go on with.
  const otlp = otlpProblem(patch.export?.otlp ?? {}, present?.export?.otlp);
  return [
    ...(offWithCategories ? [problemAt(["telemetry", "browser"], telemetryMessages.categoriesWhileOff)] : []),
    ...(otlp ? [otlp] : []),
  ];
};

/**
 * `current`: as stored, resolved or not. `patch`: as requested, in camelCase. Answers the resolved form, or `current`
 * as it is when the patch says nothing.
 */
export const mergeTelemetry = (
  current: Telemetry | undefined,
  patch: Telemetry | null | undefined,
): MergedTelemetry => {
  if (!patch) return { ok: true, telemetry: current };
  const problems = telemetryProblems(current, patch);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, telemetry: saysNothing(patch) ? current : lay(resolveTelemetry(current), patch) };
};
