import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

const parts = ["redis", "kubernetes"] as const;
/** The parts that a process can't work without. */
export type Part = (typeof parts)[number];

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
  return {
    registry,
    onKubeCall: ({ method, resource, status }: KubeCall): void =>
      kubeRequests.inc({ method, resource, status: String(status) }),
  };
};
