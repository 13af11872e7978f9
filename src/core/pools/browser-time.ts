/** How long browsers have nodes, by their namespaces: what each costs, whoever uses it. */
import type { Pod } from "../../platform/kube/objects.ts";
import type { Change } from "../../platform/kube/reflector.ts";
import type { LeadMetrics } from "../metrics/lead-metrics.ts";
import { isOver } from "./observe/pod-state.ts";

type BrowserTime = {
  /** A pod of a browser has changed. Its time begins when this process first sees it with a node. */
  note(pod: Pod, change: Change): void;
  /** Counts the time of all until now, and no further one. */
  stop(): void;
};

type Running = { namespace: string; sinceMs: number };

/** Counts at each scrape, and when a browser ends, until `stop`. `nowMs`: of a clock that is never set. */
export const createBrowserTime = (
  { browsersRan: count, beforeScrape }: Pick<LeadMetrics, "browsersRan" | "beforeScrape">,
  nowMs: () => number,
): BrowserTime => {
  const running = new Map<string, Running>();
  const end = (uid: string): void => {
    const one = running.get(uid);
    if (one) count(one.namespace, (nowMs() - one.sinceMs) / 1000);
    running.delete(uid);
  };
  /** Counts the time until now of all that run. */
  const settle = (): void => {
    const now = nowMs();
    const sums = new Map<string, number>();
    for (const one of running.values()) {
      sums.set(one.namespace, (sums.get(one.namespace) ?? 0) + now - one.sinceMs);
      one.sinceMs = now;
    }
    for (const [namespace, ms] of sums) count(namespace, ms / 1000);
  };
  const stopSettling = beforeScrape(settle);
  return {
    note(pod, change) {
      const { uid, namespace } = pod.metadata;
      if (change === "DELETED" || isOver(pod)) end(uid);
      else if (pod.spec?.nodeName && !running.has(uid)) running.set(uid, { namespace, sinceMs: nowMs() });
    },
    stop() {
      settle();
      stopSettling();
      running.clear();
    },
  };
};
