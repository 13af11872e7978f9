import { Counter, Histogram, type Registry } from "prom-client";
import { other } from "./owned-series.ts";
import { createSessionSeries, type Owners, type SessionOwner } from "./session-series.ts";

const results = ["granted", "timeout", "short", "not_started", "refused", "cancelled", "error"] as const;

/**
 * What came of asking for a browser. `timeout`: all browsers of the pool were up, and in use; `short`: the time was up
 * while the pool had fewer browsers than its size; `not_started`: none could be started; `refused`: the pool is being
 * deleted, or a bound of callers or a limit is reached; `cancelled`: the caller hung up; `error`: a fault of the
 * service.
 */
export type PoolAcquireResult = (typeof results)[number];

/**
 * Acquires of each pool, counted by the replica that served them; on-demand browsers have the pool "". The `most`
 * oldest pools and projects have labels of their own.
 */
export const createAcquireMetrics = (registry: Registry, { most, owners }: { most: number; owners: Owners }) => {
  const registers = [registry];
  const series = createSessionSeries({ most, owners });
  const acquires: Counter<"project" | "pool" | "result"> = new Counter({
    name: "browserpool_pool_acquires_total",
    help: 'Acquires of each pool by result; requests for on-demand browsers have the pool "".',
    labelNames: ["project", "pool", "result"] as const,
    registers,
    collect() {
      series.sweep();
      // A counter that begins with its first event hides that event from rates.
      for (const poolUid of series.pools.named())
        for (const result of results) add(series.of({ poolUid, project: other }), result, 0);
    },
  });
  const waits: Histogram<"project" | "pool"> = new Histogram({
    name: "browserpool_pool_acquire_wait_seconds",
    help: 'Time from an acquire to its browser, of each pool; on-demand browsers have the pool "".',
    labelNames: ["project", "pool"] as const,
    buckets: [0.01, 0.1, 0.5, 1, 5, 30, 300],
    registers,
  });
  const add = ({ labels, note }: ReturnType<typeof series.of>, result: PoolAcquireResult, count: number) => {
    const counted = { ...labels, result };
    acquires.inc(counted, count);
    note(acquires, counted);
  };
  return {
    /** What came of asking for a browser. */
    acquired(asked: SessionOwner, { result, seconds }: { result: PoolAcquireResult; seconds: number }): void {
      const asker = series.of(asked);
      add(asker, result, 1);
      if (result !== "granted") return;
      waits.observe(asker.labels, seconds);
      asker.note(waits, asker.labels);
    },
  };
};
