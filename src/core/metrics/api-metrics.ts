import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { createAcquireMetrics } from "./acquire-metrics.ts";
import { browsersByState, type PoolCounts } from "./pool-metrics.ts";
import type { Owners } from "./session-series.ts";

export type AcquireResult = "granted" | "timeout" | "refused" | "cancelled" | "error";

/** A bound of callers, as metrics name it. */
export type LimitName =
  | "request_rate"
  | "open_requests"
  | "waiting_acquires"
  | "kept_answers"
  | "connections"
  | "failed_attempts"
  | "login_ticket"
  | "uploads"
  | "streams"
  | "answer_bytes"
  | "sessions";

export type ApiMetrics = ReturnType<typeof createApiMetrics>;

/** Nothing has labels of its own. */
const unnamed = { most: 0, owners: { pools: () => [], projects: () => [] } };

/**
 * The metrics of the api. Labels come from closed sets only: never an id, a name or a URL, but for names of pools and
 * ids of projects, which are bounded (owned-series.ts). Units are seconds. `poolTotals`: over all pools, called at each
 * scrape. `named`: the pools and projects of which the `most` oldest have labels of their own.
 */
export const createApiMetrics = (
  registry: Registry,
  poolTotals: () => PoolCounts,
  named: { most: number; owners: Owners } = unnamed,
) => {
  const registers = [registry];
  new Gauge({
    name: "browserpool_browsers",
    help: "Browsers of all pools by state; `wanted` is the sum of the pools' sizes.",
    labelNames: ["state"] as const,
    registers,
    collect() {
      for (const [state, count] of browsersByState(poolTotals())) this.set({ state }, count);
    },
  });
  new Gauge({
    name: "browserpool_waiting_callers",
    help: "Callers that wait for a browser, over all pools.",
    registers,
    collect() {
      this.set(poolTotals().waiting);
    },
  });
  return {
    ...createAcquireMetrics(registry, named),
    acquires: new Counter({
      name: "browserpool_acquires_total",
      help: "Acquires by result.",
      labelNames: ["result"] as const,
      registers,
    }),
    acquireWait: new Histogram({
      name: "browserpool_acquire_wait_seconds",
      help: "Time from an acquire to its answer, by result.",
      labelNames: ["result"] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 600],
      registers,
    }),
    releases: new Counter({
      name: "browserpool_releases_total",
      help: "Releases by whether the browser is reused.",
      labelNames: ["reuse"] as const,
      registers,
    }),
    onDemand: new Counter({
      name: "browserpool_on_demand_browsers_total",
      help: "On-demand browsers that were asked for, by what served them: pool, blank (a blank browser that was started), or start (of a pod).",
      labelNames: ["source"] as const,
      registers,
    }),
    limited: new Counter({
      name: "browserpool_limited_requests_total",
      help: "Requests that were refused because their caller has reached a bound, by bound.",
      labelNames: ["limit"] as const,
      registers,
    }),
    requests: new Histogram({
      name: "browserpool_http_request_duration_seconds",
      help: "HTTP requests by method, route template and status.",
      labelNames: ["method", "route", "status"] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 60],
      registers,
    }),
    auditLines: new Counter({
      name: "browserpool_audit_lines_missing_total",
      help: "Audit lines that are missing: in the stream (suppressed, lost), or only among the recent ones (left_out, not_kept).",
      labelNames: ["reason"] as const,
      registers,
    }),
    telemetryDropped: new Counter({
      name: "browserpool_telemetry_export_dropped_total",
      help: "Telemetry events that a destination did not get: refused by it, or gone from the session's buffer.",
      labelNames: ["reason"] as const,
      registers,
    }),
    gatewayConnections: new Gauge({
      name: "browserpool_gateway_connections",
      help: "Open CDP connections through this replica.",
      registers,
    }),
  };
};
