import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import packageJson from "../../../package.json" with { type: "json" };

const parts = ["redis", "kubernetes"] as const;
/** The parts that a process can't work without. */
export type Part = (typeof parts)[number];

type Result = "ok" | "error";

/** One finished call of the Kubernetes API; the same shape as in src/platform/kube. */
type KubeCall = { method: string; resource: string; status: number };

export type ProcessMetrics = ReturnType<typeof createProcessMetrics>;

/**
 * The metrics that every command has, and the registry of its process. Each scrape calls `partsUp`, so that must answer
 * within a second or so.
 */
export const createProcessMetrics = (partsUp: () => Promise<Record<Part, boolean>>) => {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "browserpool_dependency_up",
    help: "Whether a part that the process can't work without answers: 1 or 0.",
    labelNames: ["part"] as const,
    registers,
    async collect() {
      const isUp = await partsUp();
      for (const part of parts) this.set({ part }, isUp[part] ? 1 : 0);
    },
  });
  const kubeRequests = new Counter({
    name: "browserpool_kube_requests_total",
    help: "Requests to the Kubernetes API by method (WATCH: one stream), resource and HTTP status; status 0: no answer.",
    labelNames: ["method", "resource", "status"] as const,
    registers,
  });
  new Gauge({
    name: "browserpool_build_info",
    help: "1; the labels tell what runs.",
    labelNames: ["version", "node"] as const,
    registers,
  }).set({ version: packageJson.version, node: process.versions.node }, 1);
  const redisCommands = new Histogram({
    name: "browserpool_redis_command_duration_seconds",
    help: "Commands to Redis by operation, which is the script's or the command's name, and result.",
    labelNames: ["operation", "result"] as const,
    buckets: [0.0005, 0.001, 0.0025, 0.01, 0.05, 0.25, 1.5],
    registers,
  });
  const blobCalls = new Histogram({
    name: "browserpool_blob_operation_duration_seconds",
    help: "Calls of the store of blobs by operation and result; of a blob that is read, the time until it begins.",
    labelNames: ["operation", "result"] as const,
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
    registers,
  });
  const spansDropped = new Counter({
    name: "browserpool_spans_dropped_total",
    help: "Spans that the receiver of traces did not get: the queue was full, it refused them, or it did not answer.",
    labelNames: ["reason"] as const,
    registers,
  });
  return {
    registry,
    onSpansDropped: (count: number, reason: string): void => spansDropped.inc({ reason }, count),
    onRedisCommand: (operation: string, result: Result, seconds: number): void =>
      redisCommands.observe({ operation, result }, seconds),
    onBlobCall: (operation: string, result: Result, seconds: number): void =>
      blobCalls.observe({ operation, result }, seconds),
    onKubeCall: ({ method, resource, status }: KubeCall): void =>
      kubeRequests.inc({ method, resource, status: String(status) }),
  };
};
