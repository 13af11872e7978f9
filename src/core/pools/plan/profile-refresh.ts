/** The part of the plan that replaces idle browsers when the contents of their profile change (POOL-PATCH-10); pure. */
import { refreshesOnProfileUpdate } from "../../model/pools/pool-problems.ts";
import type { Observed, ProfileVersion } from "../observe/observed.ts";
import type { PoolAction } from "./actions.ts";

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
