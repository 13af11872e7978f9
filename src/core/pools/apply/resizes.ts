/**
 * Pods that ask for another share of the processor in place (`pods/resize`), and what comes of it: the API server
 * refuses it (a quota, an admission rule), or the kubelet says that its node can never give it.
 *
 *   refused ──► tried again after 5 s, doubled each time ──► after the last try left as it is, until the mark changes
 *
 * The lease goes on in each case: its browser only weighs less on a busy node. In the memory of the leader.
 */
import type { Logger } from "../../../platform/base/log.ts";
import type { Pod } from "../../../platform/kube/objects.ts";
import type { ResizeResult } from "../../metrics/operator-metrics.ts";

export type Resizes = {
  /** Whether the pod may be resized now. */
  mayTry(podUid: string): boolean;
  done(podUid: string): void;
  /** The pod was not resized. Returns whether it is the first since one was: the log tells of that one alone. */
  refused(podUid: string): boolean;
  /** The pod's mark has changed, so it wants another amount: tries begin anew. */
  marked(podUid: string): void;
  /** The watch shows the pod: its node may say that it can't give what the pod asks for. */
  look(pod: Pod): void;
  forget(podUid: string): void;
};

type ResizeOptions = {
  /** Whether this installation resizes pods. */
  isOn: boolean;
  /** ms of a clock that is never set. */
  monotonicMs: () => number;
  count: (result: ResizeResult) => void;
  log: Logger;
};

const firstBackOffMs = 5000;

/** Tries of one resize, in some minutes; each comes with a round of the pool. */
const maxTries = 6;

const isInfeasible = ({ status }: Pod): boolean =>
  status?.conditions?.some(
    (condition) =>
      condition.type === "PodResizePending" && condition.status === "True" && condition.reason === "Infeasible",
  ) ?? false;

/** Knows of no refusal at first. */
export const createResizes = ({ isOn, monotonicMs, count, log }: ResizeOptions): Resizes => {
  const refusals = new Map<string, { tries: number; nextMs: number }>();
  const infeasible = new Set<string>();
  let isTold = false;
  return {
    mayTry(podUid) {
      const { tries, nextMs } = refusals.get(podUid) ?? { tries: 0, nextMs: 0 };
      return isOn && tries < maxTries && monotonicMs() >= nextMs;
    },
    done(podUid) {
      refusals.delete(podUid);
      isTold = false;
      count("done");
    },
    refused(podUid) {
      const tries = (refusals.get(podUid)?.tries ?? 0) + 1;
      refusals.set(podUid, { tries, nextMs: monotonicMs() + firstBackOffMs * 2 ** (tries - 1) });
      count(tries < maxTries ? "refused" : "given_up");
      const isFirst = !isTold;
      isTold = true;
      return isFirst;
    },
    marked: (podUid) => void refusals.delete(podUid),
    look(pod) {
      const { uid, name } = pod.metadata;
      if (!isInfeasible(pod)) infeasible.delete(uid);
      else if (!infeasible.has(uid)) {
        infeasible.add(uid);
        count("infeasible");
        log.warn({ pod: name, node: pod.spec?.nodeName }, "a node can't give a pod what it asks for in use");
      }
    },
    forget(podUid) {
      refusals.delete(podUid);
      infeasible.delete(podUid);
    },
  };
};
