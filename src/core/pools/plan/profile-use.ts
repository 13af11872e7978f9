/** The part of the plan that notes when a profile was last used; pure. */
import { isNewUse } from "../../../features/profiles/rules/profile-use.ts";
import type { Observed } from "../observe/observed.ts";
import type { PoolAction } from "./actions.ts";

/** A browser that has just started has its profile from before. */
export const profileUse = ({ pods, profileVersion }: Observed, nowMs: number): PoolAction[] => {
  const hasStarted = pods.some(({ state }) => state.is === "warm");
  return profileVersion && hasStarted && isNewUse(profileVersion.lastUsedMs, nowMs)
    ? [{ do: "use", profile: profileVersion }]
    : [];
};
