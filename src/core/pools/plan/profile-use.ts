/** The part of the plan that notes when a profile was last used; pure. */
import type { Observed } from "../observe/observed.ts";
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
