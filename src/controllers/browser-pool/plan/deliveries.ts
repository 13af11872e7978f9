/** The part of the plan that has waiting browsers given their setup (redis/setup-requests.ts); pure. */
import type { Observed } from "../observe/observed.ts";
import type { PoolAction } from "./actions.ts";

/** Time to the next look at a browser that waits, ms: a request may be lost, and a failed delivery is tried again. */
const lookAgainMs = 1000;

/** The actions for all browsers that wait; `requeueAfterMs` is undefined when none does. */
export const deliveries = ({ pods }: Observed): { actions: PoolAction[]; requeueAfterMs: number | undefined } => {
  const waiting = pods.filter(({ setup }) => setup && setup.is !== "delivered" && setup.is !== "outdated");
  const actions = waiting.flatMap((pod): PoolAction[] => {
    if (pod.setup?.is === "awaited") return [{ do: "deliver", pod }];
    if (pod.setup?.is !== "failed") return [];
    const note = `browser ${pod.name} waits: ${pod.setup.why}`;
    return [{ do: "note", type: "Warning", reason: "SetupFailed", note }];
  });
  return { actions, requeueAfterMs: waiting.length > 0 ? lookAgainMs : undefined };
};
