/** The part of the plan that has waiting browsers given their setup (core/setups/setup-requests.ts); pure. */
import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { PoolAction } from "./actions.ts";
import { placedAtMs } from "./pod-life.ts";

/** Time to the next look at a browser that waits, ms: a request may be lost, and a failed delivery is tried again. */
const lookAgainMs = 1000;

/** The reason of a condition while browsers wait for what they need. */
export const waitingForSetup = "WaitingForSetup";

const waits = ({ setup }: ObservedPod): boolean =>
  setup !== undefined && setup.is !== "delivered" && setup.is !== "outdated";

/**
 * What browsers wait for that can't be given now; undefined when none does. Redis keeps a failure for a moment only, so
 * the reason stays in the condition of this type until none waits any more.
 */
export const whySetupWaits = ({ pods, pool, awaitsSave }: Observed, type: string): string | undefined => {
  const waiting = pods.filter(waits);
  if (waiting.length === 0) return undefined;
  if (awaitsSave) return "a browser that has ended is being saved to the profile";
  const failed = waiting.flatMap(({ setup }) => (setup?.is === "failed" ? [setup.why] : []))[0];
  const before = pool.status?.conditions.find((condition) => condition.type === type);
  return failed ?? (before?.reason === waitingForSetup ? before.message : undefined);
};

/** How long a browser waits for the save of the one before it, ms. */
const saveWaitMs = 60_000;

const olderState = (pod: ObservedPod): PoolAction => ({
  do: "note",
  type: "Warning",
  reason: "ProfileNotSavedYet",
  note: `browser ${pod.name} starts with an older state of its profile: a browser that ended is not saved after ${saveWaitMs / 1000} s`,
});

/** The actions for all browsers that wait; `requeueAfterMs` is undefined when none does. `nowMs`: since the epoch. */
export const deliveries = (
  { pods, awaitsSave }: Observed,
  nowMs: number,
): { actions: PoolAction[]; requeueAfterMs: number | undefined } => {
  const mustWait = (pod: ObservedPod): boolean => awaitsSave && nowMs - placedAtMs(pod) < saveWaitMs;
  const waiting = pods.filter(waits);
  const actions = waiting.flatMap((pod): PoolAction[] => {
    if (pod.setup?.is === "awaited" && mustWait(pod)) return [];
    if (pod.setup?.is === "awaited") return [{ do: "deliver", pod }, ...(awaitsSave ? [olderState(pod)] : [])];
    if (pod.setup?.is !== "failed") return [];
    const note = `browser ${pod.name} waits: ${pod.setup.why}`;
    return [{ do: "note", type: "Warning", reason: "SetupFailed", note }];
  });
  return { actions, requeueAfterMs: waiting.length > 0 ? lookAgainMs : undefined };
};
