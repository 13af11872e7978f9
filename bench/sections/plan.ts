/** The pool loop's decision for a very large pool: it runs on the operator's only thread, between two events. */
import { planPool } from "../../src/controllers/browser-pool/plan.ts";
import { aPod, aPool, aSeen, nowMs, podKinds } from "../../test/support/seen-pool.ts";
import type { Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const podCount = 10_000;
const rounds = 60;
const warmUpRounds = 20;

/** Mostly browsers in use or idle, as a pool at work has them, and some of every other kind. */
const mixedPods = () => {
  const kinds = Object.values(podKinds);
  return Array.from({ length: podCount }, (_, index) => {
    const common = index % 3 === 0 ? podKinds.idle : podKinds.leased;
    return aPod(`uid-${index}`, index % 10 === 0 ? (kinds[(index / 10) % kinds.length] ?? common) : common);
  });
};

const time = (work: () => unknown): number => {
  const beganMs = performance.now();
  work();
  return performance.now() - beganMs;
};

const timesOf = (work: () => unknown, signal: AbortSignal): number[] =>
  Array.from({ length: warmUpRounds + rounds }, () => {
    signal.throwIfAborted();
    return time(work);
  }).slice(warmUpRounds);

export const section: Section = {
  name: "plan",
  summary: `planPool for a pool of ${podCount} pods in mixed states`,
  async run({ signal }) {
    const seen = aSeen({ pool: aPool({ size: podCount }), pods: mixedPods() });
    const shrinking = aSeen({ pool: aPool({ size: podCount / 2 }), pods: mixedPods() });
    const steady = summarize(timesOf(() => planPool(seen, nowMs), signal));
    const shrink = summarize(timesOf(() => planPool(shrinking, nowMs), signal));
    const visit = summarize(timesOf(() => new Map(seen.pods.map((pod) => [pod.uid, pod])), signal));
    const floor = { what: "one map of the pods", value: visit.p50 };
    return {
      rows: [
        { what: "p50 of a round", unit: "ms", measured: steady.p50, floor, target: { of: "measured", atMost: 20 } },
        { what: "p50 of a round that halves the pool", unit: "ms", measured: shrink.p50, floor },
      ],
      detail: { steady, shrink, visit },
    };
  },
};
