/** The pool loop's decisions as lines that are easy to compare. */

import type { PoolAction } from "../../src/core/pools/plan/actions.ts";
import { planPool } from "../../src/core/pools/plan/plan.ts";
import { anObserved, aPool, nowMs, type ObservedOptions, type PodKind, podsOf } from "./observed-pool.ts";

/** An action as a short line: what, on what, why. */
export const line = (action: PoolAction): string => {
  switch (action.do) {
    case "close":
      return `close ${action.browser} ${action.why}`;
    case "inspect":
      return `inspect ${action.pod.uid} ${action.why} in ${action.afterMs}`;
    case "retire":
      return `retire ${action.count} of ${action.ids.join(",")} ${action.why}`;
    case "mark":
    case "unmark":
      return `${action.do} ${action.pod.uid}`;
    case "resize":
      return `resize ${action.pod.uid} to ${action.cpu}`;
    case "leave":
    case "stay":
      return `${action.do} ${action.ids.join(",")} ${action.why}`;
    case "discard":
      return `discard ${action.token}`;
    case "delete":
      return `delete ${action.pod.uid} ${action.why}`;
    case "create":
      return `create ${action.count} ${action.paced ? "paced" : "unpaced"}`;
    case "forfeit":
      return `forfeit ${action.count}`;
    case "note":
      return `note ${action.reason}`;
    default:
      return action.do;
  }
};

/** All actions but inspections, which come in every round. */
export const planned = (observed: ObservedOptions): string[] => {
  const { actions } = planPool(anObserved(observed), nowMs);
  return actions.filter((action) => action.do !== "inspect").map(line);
};

/** A pool whose size is the number of these pods. */
export const full = (...kinds: PodKind[]) => ({ pods: podsOf(...kinds), pool: aPool({ size: kinds.length }) });

/** A time in the form of a status field. */
export const at = (ms: number): string => new Date(ms).toISOString();
