/** The part of the plan that notes when a profile was last used; pure. */

import { refreshesOnProfileUpdate } from "../../model/pools/pool-problems.ts";
import type { Observed, ProfileVersion } from "../observe/observed.ts";
import type { PoolAction } from "./actions.ts";

/** How exact the time of a profile's last use is, ms. */
const exactMs = 60_000;

/** Whether a use at `nowMs` is worth a note. Both in ms since the epoch; `lastMs`: of the last note, 0 for none. */
export const isNewUse = (lastMs: number, nowMs: number): boolean => nowMs - lastMs >= exactMs;

/** A browser that has just started has its profile from before. */
export const profileUse = ({ pods, profileVersion }: Observed, nowMs: number): PoolAction[] => {
  const hasStarted = pods.some(({ state }) => state.is === "warm");
  return profileVersion && hasStarted && isNewUse(profileVersion.lastUsedMs, nowMs)
    ? [{ do: "use", profile: profileVersion }]
    : [];
};

// The part of the plan that replaces idle browsers when the contents of their profile change (POOL-PATCH-10); pure.

/** A version as the status keeps it. */
export const versionText = ({ uid, version }: Pick<ProfileVersion, "uid" | "version">): string => `${uid}/${version}`;

/** Whether the profile that browsers were last refreshed for has newer contents. Another profile is no newer one. */
const isNewer = ({ uid, version }: ProfileVersion, before: string | undefined): boolean => {
  const [knownUid, known] = (before ?? "").split("/");
  return knownUid === uid && version > Number(known);
};

/** Idle browsers go, and are replaced at the fill rate; those that start may have the contents from before. */
export const profileRefresh = ({ pool, pods, profileVersion, leases }: Observed): PoolAction[] => {
  if (!profileVersion || !refreshesOnProfileUpdate(pool.spec)) return [];
  if (!isNewer(profileVersion, pool.status?.profileVersion)) return [];
  const ids = leases.browsers.filter(({ state }) => state === "idle").map(({ id }) => id);
  const starting = pods.filter(({ state, setup }) => state.is === "starting" && setup?.is !== "awaited");
  return [
    ...(ids.length > 0 ? [{ do: "retire" as const, ids, count: ids.length, why: "ProfileUpdated" as const }] : []),
    ...starting.map((pod): PoolAction => ({ do: "delete", pod, why: "Outdated" })),
  ];
};
