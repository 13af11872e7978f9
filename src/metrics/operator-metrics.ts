import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export type StartResult = "ready" | "failed";

/** Receives measurements of the controllers' queues; the same shape as in src/kube. */
type WorkMeter = {
  worked(controller: string, result: "ok" | "error", seconds: number): void;
  waiting(controller: string, count: number): void;
};

export type OperatorMetrics = {
  work: WorkMeter;
  /** A browser has started, or its start has failed. */
  started(result: StartResult): void;
};

/** The metrics that only the operator has. Each scrape calls `isLeading`. */
export const createOperatorMetrics = (registry: Registry, isLeading: () => boolean): OperatorMetrics => {
  const registers = [registry];
  new Gauge({
    name: "browserpool_operator_leading",
    help: "Whether this replica leads: 1 or 0. The sum over all replicas is 1.",
    registers,
    collect() {
      this.set(isLeading() ? 1 : 0);
    },
  });
  const rounds = new Histogram({
    name: "browserpool_reconcile_duration_seconds",
    help: "Rounds by controller and result; an error is followed by another round.",
    labelNames: ["controller", "result"] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60],
    registers,
  });
  const queued = new Gauge({
    name: "browserpool_reconcile_queue_length",
    help: "Objects that wait for a round now, by controller, without delayed ones.",
    labelNames: ["controller"] as const,
    registers,
  });
  const starts = new Counter({
    name: "browserpool_browser_starts_total",
    help: "Starts of browsers by result, of those that began under this leader.",
    labelNames: ["result"] as const,
    registers,
  });
  for (const result of ["ready", "failed"] as const) starts.inc({ result }, 0);
  return {
    work: {
      worked: (controller, result, seconds) => rounds.observe({ controller, result }, seconds),
      waiting: (controller, count) => queued.set({ controller }, count),
    },
    started: (result) => starts.inc({ result }),
  };
};
