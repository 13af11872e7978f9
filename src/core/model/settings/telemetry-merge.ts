/**
 * Merges telemetry settings into others: a PATCH into a pool's, a lease's into its pool's, a new pool's into none
 * (POOL-PATCH-11, TELEMETRY-2 to TELEMETRY-7).
 *
 * The API stores and shows the resolved form: either nothing (no capture), or `enabled: true` with an `enabled` flag for each of
 * the ten categories, and `export` and `storage` where they were set. It resolves to itself. YAML may contain any shorter form;
 * `resolveTelemetry` resolves it.
 *
 *   omitted, null, {}        unchanged
 *   enabled: false           nothing; with category settings it is refused
 *   enabled: true            the default set with the given categories on top; export and storage merge
 *   categories alone         merge onto the present set, or onto the default set where nothing is captured
 *   every category off       stays resolved, with each flag false: if it were cleared, a repetition of the same request
 *                            would fall back to the default set
 *   export, storage          merge; turned on where nothing is captured, they start the default set
 */

import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";
import { type Telemetry, type TelemetryCategory, telemetryCategories, telemetryMessages } from "./telemetry.ts";

type MergedTelemetry = { ok: true; telemetry: Telemetry | undefined } | { ok: false; problems: SpecProblem[] };

type Categories = NonNullable<Telemetry["browser"]>;
type Otlp = NonNullable<NonNullable<Telemetry["export"]>["otlp"]>;

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

const turnsOn = (otlp: Otlp | undefined): boolean => otlp?.enabled === true || otlp?.destination !== undefined;

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

const mergeOtlp = (base: Otlp | undefined, patch: Otlp | undefined): Otlp | undefined => {
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
 * `current`: as stored, resolved or not. `patch`: as requested, in camelCase. Returns the resolved form, or `current` unchanged
 * when the patch is empty.
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
