/**
 * The request of `PATCH /browser_pools/{id_or_name}` over the spec of a pool. A number in brackets is that
 * of a rule: (4) is POOL-PATCH-4. Rule 1 (`save_changes`) is in the request's schema; rule 12 (the sum of all sizes) needs
 * the other pools and is the caller's; rules 13 and 14 are about browsers that exist, and the operator's.
 */
import { isDeepStrictEqual } from "node:util";
import { BrowserPoolSpec } from "../resources/browser-pool.ts";
import { PoolPatch, type UpdateBrowserPool } from "../resources/browser-pool-wire.ts";
import type { Telemetry } from "../resources/telemetry.ts";
import { fromWire } from "../resources/wire.ts";
import { refreshProblems, settingProblems } from "./pool-problems.ts";
import { chooseProfile } from "./pool-profile.ts";
import { type Problem, problemAt, type SpecProblem, wireProblems } from "./problem.ts";
import { mergeTelemetry } from "./telemetry-merge.ts";

/** `discardIdle`: the caller asked to discard what is idle (rule 14). */
export type PatchedPool =
  | { ok: true; spec: BrowserPoolSpec; discardIdle: boolean }
  | { ok: false; problems: Problem[] };

/** Fields to set; a field that is present with the value undefined is cleared. */
type Changes = { [Key in keyof BrowserPoolSpec]?: BrowserPoolSpec[Key] | undefined };

const replaced = [
  "size",
  "fillRatePerMinute",
  "timeoutSeconds",
  "headless",
  "stealth",
  "kioskMode",
  "memory",
  "viewport",
] as const;

/** Replaced when given, kept otherwise; viewport is replaced whole (rule 8). */
const plainChanges = (patch: PoolPatch): Changes =>
  Object.fromEntries(replaced.flatMap((key) => (patch[key] === undefined ? [] : [[key, patch[key]]])));

const clearedWhenEmpty = ["extensions", "chromePolicy", "proxyId", "startUrl", "network"] as const;

const isEmpty = (value: string | object): boolean => value === "" || Object.keys(value).length === 0;

/** Replaced when given, cleared by what is empty: a list (3), an object (4, 9) or a string (5, 6). */
const clearableChanges = (patch: PoolPatch): Changes =>
  Object.fromEntries(
    clearedWhenEmpty.flatMap((key) => {
      const value = patch[key];
      if (value === undefined) return [];
      return [[key, isEmpty(value) ? undefined : value]];
    }),
  );

/** A policy that was kept outside the pool gives way to the one of the request, an empty one too (4). */
const policyRefChanges = (patch: PoolPatch): Changes => (patch.chromePolicy ? { chromePolicyRef: undefined } : {});

/** An empty name is a no-op (7). */
const nameChanges = (patch: PoolPatch): Changes => (patch.name ? { name: patch.name } : {});

/** The profile (2), and what follows from it for `refreshOnProfileUpdate` (10). */
const profileChanges = (spec: BrowserPoolSpec, patch: PoolPatch): Changes => {
  const choice = patch.profile && chooseProfile(patch.profile);
  const given = patch.refreshOnProfileUpdate;
  if (choice?.kind === "none") return { profile: undefined, refreshOnProfileUpdate: given ?? false };
  const isNew = choice?.kind === "profile" && !isDeepStrictEqual(choice.profile, spec.profile);
  const refresh = given ?? (isNew ? true : undefined);
  return {
    ...(isNew ? { profile: choice.profile } : {}),
    ...(refresh === undefined ? {} : { refreshOnProfileUpdate: refresh }),
  };
};

const profileProblems = (patch: PoolPatch): SpecProblem[] =>
  patch.profile && chooseProfile(patch.profile).kind === "invalid"
    ? [problemAt(["profile"], "give exactly one of id and name; an empty string clears the profile")]
    : [];

/** Telemetry (11): the problems of the request, or the change. */
const telemetryChanges = (spec: BrowserPoolSpec, asked: Telemetry | null | undefined) => {
  const merged = mergeTelemetry(spec.telemetry, asked);
  if (!merged.ok) return { changes: {}, problems: merged.problems };
  return { changes: asked ? { telemetry: merged.telemetry } : {}, problems: [] };
};

const applyChanges = (spec: BrowserPoolSpec, changes: Changes): BrowserPoolSpec =>
  Object.fromEntries(
    Object.entries({ ...spec, ...changes }).filter(([, value]) => value !== undefined),
  ) as BrowserPoolSpec;

/**
 * `patch`: as parsed by `UpdateBrowserPool`. Only what the patch gives is checked beyond the schema, so that a pool with
 * a fault elsewhere can still be resized. `spec` is not changed; `discardIdle` of the spec is left to the caller.
 */
export const patchPool = (spec: BrowserPoolSpec, patch: UpdateBrowserPool): PatchedPool => {
  const asked = fromWire(PoolPatch, patch);
  const telemetry = telemetryChanges(spec, asked.telemetry);
  const next = applyChanges(spec, {
    ...plainChanges(asked),
    ...clearableChanges(asked),
    ...policyRefChanges(asked),
    ...nameChanges(asked),
    ...profileChanges(spec, asked),
    ...telemetry.changes,
  });
  const problems = [
    ...profileProblems(asked),
    ...settingProblems({ ...asked, profile: undefined }),
    ...(asked.refreshOnProfileUpdate ? refreshProblems(next) : []),
    ...telemetry.problems,
  ];
  if (problems.length > 0) return { ok: false, problems: wireProblems(BrowserPoolSpec, problems) };
  return { ok: true, spec: next, discardIdle: asked.discardAllIdle };
};
