import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { createLeadMetrics, type LeadMetrics } from "./lead-metrics.ts";

type StartResult = "ready" | "failed";

/** What came of a trial; the same as in site-analysis.ts. */
type TrialVerdict = "accessed" | "blocked" | "inconclusive";

/**
 * `counted`; `skipped`: of what is not known, or too soon after another of its project; `dropped`: there was no room,
 * or it could not be written.
 */
type ReportResult = "counted" | "skipped" | "dropped";

/**
 * `pool`: a day old, or beyond the pool's own bound; `all`: beyond the bound of all pools; `memory`: Redis is nearly
 * full.
 */
export type EndedDropReason = "pool" | "all" | "memory";

/** Receives measurements of the controllers' queues; the same shape as in src/platform/kube. */
type WorkMeter = {
  worked(controller: string, result: "ok" | "error", seconds: number): void;
  waiting(controller: string, count: number): void;
};

const resizeResults = ["done", "refused", "given_up", "infeasible"] as const;

/** `given_up`: refused as often as it is tried; `infeasible`: the kubelet says that the node can't give it. */
export type ResizeResult = (typeof resizeResults)[number];

export type OperatorMetrics = {
  lead: LeadMetrics;
  work: WorkMeter;
  /** A browser has started, or its start has failed. */
  started(result: StartResult): void;
  /** How many browsers of a pool have still to be asked what Redis has lost; 0: it is not recovered, or gone. */
  recovering(poolUid: string, browsers: number): void;
  /** A pod was to ask for another share of the processor. */
  resized(result: ResizeResult): void;
  /** A trial of the config registry has ended. */
  tried(verdict: TrialVerdict): void;
  /** Outcomes of sessions that came, by what became of them. */
  reported(result: ReportResult, count: number): void;
  /** Of ended leases that Redis keeps, and the memory that Redis has for them. */
  ended: {
    dropped(why: EndedDropReason, count: number): void;
    left(of: { count: number; bytes: number }): void;
    /** The fullest server's memory as a share of its limit; 0 without a limit. */
    memory(share: number): void;
  };
};

const countResizes = (registry: Registry): OperatorMetrics["resized"] => {
  const resizes = new Counter({
    name: "browserpool_pod_resizes_total",
    help: "Resizes of pods whose browser came into use or became idle: done; refused and tried again; given up; or infeasible, by their kubelet.",
    labelNames: ["result"] as const,
    registers: [registry],
  });
  for (const result of resizeResults) resizes.inc({ result }, 0);
  return (result) => resizes.inc({ result });
};

/** The metrics that only the operator has. Each scrape calls `isLeading`. `most`: projects with labels of their own. */
export const createOperatorMetrics = (
  registry: Registry,
  isLeading: () => boolean,
  { most }: { most: number } = { most: 0 },
): OperatorMetrics => {
  const registers = [registry];
  new Gauge({
    name: "browserpool_operator_leading",
    help: "Whether this replica leads: 1 or 0. The sum over all replicas is 1.",
    registers,
    collect() {
      this.set(isLeading() ? 1 : 0);
    },
  });
  const recovering = new Map<string, number>();
  new Gauge({
    name: "browserpool_recovering_browsers",
    help: "Browsers that have still to be asked for their leases since Redis has lost data; sessions that are not found meanwhile are 503.",
    registers,
    collect() {
      if (!isLeading()) recovering.clear();
      this.set(recovering.values().reduce((sum, count) => sum + count, 0));
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
  const trials = new Counter({
    name: "browserpool_site_trials_total",
    help: "Trials of the config registry by verdict.",
    labelNames: ["verdict"] as const,
    registers,
  });
  for (const verdict of ["accessed", "blocked", "inconclusive"] as const) trials.inc({ verdict }, 0);
  const reports = new Counter({
    name: "browserpool_session_outcomes_total",
    help: "Outcomes of sessions for the config registry: counted, skipped as unknown or too soon, or dropped for want of room or of the API server.",
    labelNames: ["result"] as const,
    registers,
  });
  for (const result of ["counted", "skipped", "dropped"] as const) reports.inc({ result }, 0);
  const endedDropped = new Counter({
    name: "browserpool_ended_leases_dropped_total",
    help: "Ended leases that the operator dropped: by the pool's own bound or age, the bound of all pools, or for Redis' memory.",
    labelNames: ["why"] as const,
    registers,
  });
  for (const why of ["pool", "all", "memory"] as const) endedDropped.inc({ why }, 0);
  const endedCount = new Gauge({
    name: "browserpool_ended_leases",
    help: "Ended leases that Redis keeps, of all pools.",
    registers,
  });
  const endedBytes = new Gauge({
    name: "browserpool_ended_leases_bytes",
    help: "Memory that Redis needs for them, roughly.",
    registers,
  });
  const redisMemory = new Gauge({
    name: "browserpool_redis_memory_ratio",
    help: "Used memory of the fullest Redis server, as a share of its limit; 0 without a limit.",
    registers,
  });
  return {
    lead: createLeadMetrics(registry, { most }),
    work: {
      worked: (controller, result, seconds) => rounds.observe({ controller, result }, seconds),
      waiting: (controller, count) => queued.set({ controller }, count),
    },
    started: (result) => starts.inc({ result }),
    resized: countResizes(registry),
    recovering(poolUid, browsers) {
      if (browsers > 0) recovering.set(poolUid, browsers);
      else recovering.delete(poolUid);
    },
    tried: (verdict) => trials.inc({ verdict }),
    reported: (result, count) => reports.inc({ result }, count),
    ended: {
      dropped: (why, count) => endedDropped.inc({ why }, count),
      left({ count, bytes }) {
        endedCount.set(count);
        endedBytes.set(bytes);
      },
      memory: (share) => redisMemory.set(share),
    },
  };
};
