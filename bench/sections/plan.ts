/** The time of one plan for a very large pool: it runs on the operator's only thread, between two events. */
import { planPool } from "../../src/core/pools/plan/plan.ts";
import { anObserved, aPod, aPool, nowMs, podKinds } from "../../test/support/observed-pool.ts";
import type { Section } from "../section.ts";
import { type Summary, summarize } from "../statistics.ts";

const podCount = 10_000;
const samples = 15;
const warmUpSamples = 3;
/** Duration of one sample, ms. */
const sampleMs = 150;

/** Mostly browsers in use or idle, as in a pool at work, and some of every other kind. */
const mixedPods = () => {
  const kinds = Object.values(podKinds);
  return Array.from({ length: podCount }, (_, index) => {
    const common = index % 3 === 0 ? podKinds.idle : podKinds.leased;
    return aPod(`uid-${index}`, index % 10 === 0 ? (kinds[(index / 10) % kinds.length] ?? common) : common);
  });
};

/** A split network. */
const halfUnready = () =>
  Array.from({ length: podCount }, (_, index) =>
    aPod(`uid-${index}`, index % 2 === 0 ? podKinds["unready idle"] : podKinds.leased),
  );

/**
 * CPU time of this thread for one piece of work, ms: other processes on the machine don't count. The kernel counts in
 * ticks of some milliseconds, so each sample has many repetitions.
 */
const timesOf = (work: () => unknown, signal: AbortSignal): Summary => {
  const times: number[] = [];
  while (times.length < warmUpSamples + samples) {
    signal.throwIfAborted();
    const began = process.threadCpuUsage();
    let count = 0;
    let ms = 0;
    while (ms < sampleMs) {
      work();
      count += 1;
      const { user, system } = process.threadCpuUsage(began);
      ms = (user + system) / 1000;
    }
    times.push(ms / count);
  }
  return summarize(times.slice(warmUpSamples));
};

export const section: Section = {
  name: "plan",
  summary: `planPool for a pool of ${podCount} pods, in CPU time`,
  async run({ signal }) {
    const pool = aPool({ size: podCount });
    const seen = {
      "mixed states": anObserved({ pool, pods: mixedPods() }),
      "twice as many as wanted": anObserved({ pool: aPool({ size: podCount / 2 }), pods: mixedPods() }),
      "half of them not answering": anObserved({ pool, pods: halfUnready() }),
    };
    const { pods } = seen["mixed states"];
    const visit = timesOf(() => new Map(pods.map((pod) => [pod.uid, pod])), signal);
    const floor = { what: "one map of the pods", value: visit.p50 };
    const target = { of: "measured", atMost: 20 } as const;
    const times = Object.entries(seen).map(([what, own]) => ({ what, ...timesOf(() => planPool(own, nowMs), signal) }));
    return {
      rows: times.map(({ what, p50 }) => ({ what: `${what}, p50`, unit: "ms", measured: p50, floor, target })),
      detail: { visit, times },
    };
  },
};
