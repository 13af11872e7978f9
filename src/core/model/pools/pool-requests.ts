/**
 * Applies the request of `PATCH /browser_pools/{id_or_name}` to the spec of a pool. A number in brackets is that of a
 * rule: (4) is POOL-PATCH-4. The request's schema implements rule 1 (`save_changes`). The caller checks rule 12 (the
 * sum of all sizes), which needs the other pools. The operator implements rules 13 and 14, which concern existing
 * browsers.
 */

import { isDeepStrictEqual } from "node:util";
import { fromWire } from "../../../platform/kinds/wire.ts";
import { notEmpty, withoutUndefined } from "../../../platform/rules/given-fields.ts";
import { type Problem, problemAt, type SpecProblem, wireProblems } from "../../../platform/rules/problem.ts";
import { chooseProfile, profileProblems } from "../settings/browser-settings.ts";
import { type SettingsWith, settingsWith } from "../settings/setting-table.ts";
import { mergeTelemetry, type Telemetry } from "../settings/telemetry.ts";
import { type AskedAutoscale, askedAutoscale, sizeProblems } from "./autoscale/autoscale-problems.ts";
import { BrowserPoolSpec } from "./browser-pool.ts";
import { type CreateBrowserPool, PoolPatch, PoolRequest, type UpdateBrowserPool } from "./browser-pool-wire.ts";
import { poolProblems, refreshProblems, settingProblems } from "./pool-problems.ts";

// The request of `POST /browser_pools` → the spec of a new pool.

type NewPoolSpec = { ok: true; spec: BrowserPoolSpec } | { ok: false; problems: Problem[] };

const profileOf = (request: PoolRequest): Pick<BrowserPoolSpec, "profile" | "refreshOnProfileUpdate"> => {
  const choice = request.profile && chooseProfile(request.profile);
  if (choice?.kind !== "profile") return {};
  return { profile: choice.profile, refreshOnProfileUpdate: request.refreshOnProfileUpdate ?? true };
};

/**
 * `request`: parsed by `CreateBrowserPool`, which fills in the defaults. A profile turns `refreshOnProfileUpdate` on
 * unless the request sets it (POOL-4). The caller checks the organization's limits.
 */
export const newPoolSpec = (request: CreateBrowserPool): NewPoolSpec => {
  const asked = fromWire(PoolRequest, request);
  const merged = mergeTelemetry(undefined, asked.telemetry);
  const autoscale = askedAutoscale(asked.autoscale);
  const spec: BrowserPoolSpec = withoutUndefined({
    ...asked,
    autoscale: autoscale.given,
    chromePolicy: notEmpty(asked.chromePolicy),
    extensions: notEmpty(asked.extensions),
    network: notEmpty(asked.network),
    startUrl: asked.startUrl || undefined,
    proxyId: asked.proxyId || undefined,
    profile: undefined,
    ...profileOf(asked),
    telemetry: merged.ok ? merged.telemetry : undefined,
  });
  const problems = [
    ...profileProblems(asked.profile),
    ...(autoscale.problems.length > 0 ? autoscale.problems : poolProblems(spec)),
    ...(merged.ok ? [] : merged.problems),
  ];
  return problems.length === 0 ? { ok: true, spec } : { ok: false, problems: wireProblems(BrowserPoolSpec, problems) };
};

/** `discardIdle`: the caller asked to discard the idle browsers (rule 14). */
type PatchedPool = { ok: true; spec: BrowserPoolSpec; discardIdle: boolean } | { ok: false; problems: Problem[] };

/** `isSameProfile`: the request names the profile of the pool, maybe by its id instead of its name (10). */
type PatchFacts = { isSameProfile: boolean };

/** Fields to set; an optional key with the value undefined clears its field. */
type Changes = {
  [Key in keyof BrowserPoolSpec]?: object extends Pick<BrowserPoolSpec, Key>
    ? BrowserPoolSpec[Key] | undefined
    : BrowserPoolSpec[Key];
};

/** What a rule makes of a request: changes, or what is wrong. */
type Outcome = { changes: Changes; problems: SpecProblem[] };

const replaced = settingsWith("patch", "replaced");

/** Fields that are replaced when given, else kept; viewport is replaced whole (rule 8). */
const plainChanges = (patch: PoolPatch): Changes =>
  Object.fromEntries(replaced.flatMap((key) => (patch[key] === undefined ? [] : [[key, patch[key]]])));

const clearedWhenEmpty = settingsWith("patch", "clearable");

const isEmpty = (value: string | object): boolean => value === "" || Object.keys(value).length === 0;

/** Fields that are replaced when given and cleared by an empty list (3), object (4, 9) or string (5, 6). */
const clearableChanges = (patch: PoolPatch): Changes =>
  Object.fromEntries(
    clearedWhenEmpty.flatMap((key) => {
      const value = patch[key];
      if (value === undefined) return [];
      return [[key, isEmpty(value) ? undefined : value]];
    }),
  );

/**
 * The profile (2) as it is named now, and its effect on `refreshOnProfileUpdate` (10): another name of the same profile
 * has none.
 */
const profileChanges = (spec: BrowserPoolSpec, patch: PoolPatch, { isSameProfile }: PatchFacts): Changes => {
  const choice = patch.profile && chooseProfile(patch.profile);
  const given = patch.refreshOnProfileUpdate;
  if (choice?.kind === "none") return { profile: undefined, refreshOnProfileUpdate: given ?? false };
  const isOther = choice?.kind === "profile" && !isSameProfile && !isDeepStrictEqual(choice.profile, spec.profile);
  const refresh = given ?? (isOther ? true : undefined);
  return {
    ...(choice?.kind === "profile" ? { profile: choice.profile } : {}),
    ...(refresh === undefined ? {} : { refreshOnProfileUpdate: refresh }),
  };
};

const patchedProfileProblems = (patch: PoolPatch): SpecProblem[] =>
  patch.profile && chooseProfile(patch.profile).kind === "invalid"
    ? [problemAt(["profile"], "give exactly one of id and name; an empty string clears the profile")]
    : [];

const sizeFromAutoscale =
  "the pool has autoscale, which sets its size; an empty autoscale beside it gives the pool this size instead";

/** Size and `autoscale`, which take the place of each other; an empty `autoscale` removes it, and needs a size. */
const sizeChanges = (spec: BrowserPoolSpec, { size, autoscale }: Pick<PoolPatch, "size" | "autoscale">): Outcome => {
  if (size === undefined && autoscale === undefined) return { changes: {}, problems: [] };
  if (autoscale === undefined)
    return spec.autoscale
      ? { changes: {}, problems: [problemAt(["size"], sizeFromAutoscale)] }
      : { changes: { size }, problems: [] };
  const { given, problems }: AskedAutoscale = askedAutoscale(autoscale);
  const changes = { size, autoscale: given };
  return { changes, problems: problems.length > 0 ? problems : sizeProblems(changes) };
};

/** Telemetry (11): the problems of the request, or the change. */
const telemetryChanges = (spec: BrowserPoolSpec, asked: Telemetry | null | undefined): Outcome => {
  const merged = mergeTelemetry(spec.telemetry, asked);
  if (!merged.ok) return { changes: {}, problems: merged.problems };
  return { changes: asked ? { telemetry: merged.telemetry } : {}, problems: [] };
};

const plain = (changes: Changes): Outcome => ({ changes, problems: [] });

type Rule = (spec: BrowserPoolSpec, patch: PoolPatch, facts: PatchFacts) => Outcome;

/** The settings with rules of their own. */
const rules: Record<SettingsWith<"patch", "own">, Rule> = {
  // An empty name is a no-op (7).
  name: (_spec, { name }) => plain(name ? { name } : {}),
  size: sizeChanges,
  // With the size.
  autoscale: () => plain({}),
  // The policy of the request, even an empty one, replaces a policy in ConfigMaps (4).
  chromePolicyRef: (_spec, { chromePolicy }) => plain(chromePolicy ? { chromePolicyRef: undefined } : {}),
  profile: (spec, patch, facts) => ({
    changes: profileChanges(spec, patch, facts),
    problems: patchedProfileProblems(patch),
  }),
  // With the profile.
  refreshOnProfileUpdate: () => plain({}),
  telemetry: (spec, { telemetry }) => telemetryChanges(spec, telemetry),
  // The caller sets it (14).
  discardIdle: () => plain({}),
};

const applyChanges = (spec: BrowserPoolSpec, changes: Changes): BrowserPoolSpec =>
  withoutUndefined({ ...spec, ...changes });

/**
 * `patch`: parsed by `UpdateBrowserPool`. Beyond the schema, only the given fields are checked, so that a pool with a
 * problem in another field can still be resized. It does not change `spec`; the caller sets `discardIdle` of the spec.
 */
export const patchPool = (
  spec: BrowserPoolSpec,
  patch: UpdateBrowserPool,
  facts: PatchFacts = { isSameProfile: false },
): PatchedPool => {
  const asked = fromWire(PoolPatch, patch);
  const outcomes = Object.values(rules).map((rule) => rule(spec, asked, facts));
  const changes = [plainChanges(asked), clearableChanges(asked), ...outcomes.map((outcome) => outcome.changes)];
  const next = applyChanges(spec, Object.assign({}, ...changes));
  const problems = [
    ...outcomes.flatMap((outcome) => outcome.problems),
    ...settingProblems({ ...asked, profile: undefined }),
    ...(asked.refreshOnProfileUpdate ? refreshProblems(next) : []),
  ];
  if (problems.length > 0) return { ok: false, problems: wireProblems(BrowserPoolSpec, problems) };
  return { ok: true, spec: next, discardIdle: asked.discardAllIdle };
};
