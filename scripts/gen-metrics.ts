/** Makes the table of docs/metrics.md: every metric of ours, from what the processes register. */
import type { MetricObject, Registry } from "prom-client";
import { createApiMetrics } from "../src/core/metrics/api-metrics.ts";
import { createOperatorMetrics } from "../src/core/metrics/operator-metrics.ts";
import { createPoolMetrics } from "../src/core/metrics/pool-metrics.ts";
import { createSessionMetrics } from "../src/core/metrics/session-metrics.ts";
import { createProcessMetrics } from "../src/platform/metrics/process-metrics.ts";
import { generateParts, table } from "./marked-part.ts";

const page = "docs/metrics.md";

/** A metric as its process registers it. */
type RegisteredMetric = { name: string; type: string; labels: string[]; help: string };

const metricsOf = async (registry: Registry): Promise<RegisteredMetric[]> => {
  const types = new Map<string, MetricObject["type"]>(
    (await registry.getMetricsAsJSON()).map(({ name, type }) => [name, type]),
  );
  return registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith("browserpool_"))
    .map((metric) => ({
      name: metric.name,
      type: String(types.get(metric.name)),
      labels: [...(metric as unknown as { labelNames: string[] }).labelNames],
      help: metric.help,
    }));
};

/** The metrics of ours of each process. */
export const registeredMetrics = async (): Promise<Record<"api" | "operator", RegisteredMetric[]>> => {
  const [api, operator] = [0, 1].map(() => {
    const { registry } = createProcessMetrics(async () => ({ redis: true, kubernetes: true }));
    createSessionMetrics(registry, { most: 0 });
    return registry;
  }) as [Registry, Registry];
  createApiMetrics(api, () => ({ size: 0, available: 0, acquired: 0, starting: 0, waiting: 0 }));
  createPoolMetrics(api, { most: 0, pools: () => [] });
  createOperatorMetrics(operator, () => true);
  return { api: await metricsOf(api), operator: await metricsOf(operator) };
};

/** Writes the table, or with `check` compares it. Returns the page. */
export const generateMetrics = async (options: { check: boolean }): Promise<string> => {
  const { api, operator } = await registeredMetrics();
  const all = new Map([...api, ...operator].map((metric) => [metric.name, metric]));
  const processOf = (name: string): string => {
    const isIn = (list: RegisteredMetric[]): boolean => list.some((metric) => metric.name === name);
    return isIn(api) && isIn(operator) ? "both" : isIn(api) ? "api" : "operator";
  };
  const rows = [...all.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(", "),
      processOf(name),
      help,
    ]);
  return generateParts(page, { metrics: table(["Metric", "Type", "Labels", "Of", "Meaning"], rows) }, options);
};
