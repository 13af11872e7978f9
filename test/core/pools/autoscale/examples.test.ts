/**
 * The examples of docs/autoscaling.md are accepted by a real API server, and name objects and metrics that there are.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createPoolMetrics } from "../../../../src/core/metrics/pool-metrics.ts";
import { type BrowserPool, BrowserPoolSpec, browserPoolKind } from "../../../../src/core/model/pools/browser-pool.ts";
import { poolProblems } from "../../../../src/core/model/pools/pool-problems.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../crds/start-control-plane.ts";
import { docExamples } from "../../../support/doc-examples.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "..", "examples", "autoscaling");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");

type Described = { apiVersion: string; kind: string; metadata: { name: string }; spec: Record<string, unknown> };
const objectsOf = (file: string): Described[] =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as Described);
const only = (file: string, kind: string): Described =>
  objectsOf(file).find((object) => object.kind === kind) as Described;

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane?.stop());

const dryRun = (path: string): Promise<string> =>
  plane.kubectl("create", "--validate=strict", "--dry-run=server", `--filename=${path}`);

// POOL-23
test("the pool of the page is that of the example, and its settings have no problem", () => {
  const [onPage = ""] = docExamples("autoscaling.md", "yaml");
  const pool = only("autoscaled-pool.yaml", "BrowserPool");
  expect(parse(onPage)).toEqual(pool);
  expect(poolProblems(BrowserPoolSpec.parse(pool.spec))).toEqual([]);
});

test.each(["autoscaled-pool.yaml", "hpa.yaml"])(
  "the API server accepts all of %s, and no field is unknown",
  async (file) => {
    const made = await dryRun(join(folder, file));
    expect(made.trim().split("\n")).toHaveLength(objectsOf(file).length);
  },
);

test("the API server accepts the pool of keda.yaml; the rest is a kind of KEDA", async () => {
  const { metadata, spec } = only("keda.yaml", "BrowserPool");
  const pool = { metadata: { ...metadata, namespace: "default" }, spec } as unknown as BrowserPool;
  expect((await plane.kube.create(browserPoolKind, pool)).spec).toMatchObject(spec);
});

describe.each([
  ["hpa.yaml", "HorizontalPodAutoscaler", "minReplicas", "maxReplicas"],
  ["keda.yaml", "ScaledObject", "minReplicaCount", "maxReplicaCount"],
])("the scaler of %s", (file, kind, min, max) => {
  test("scales the pool of the file, within sizes that a pool may have", () => {
    const pool = only(file, "BrowserPool");
    const { spec } = only(file, kind);
    const { group, version } = browserPoolKind;
    expect(spec.scaleTargetRef).toEqual({
      apiVersion: `${group}/${version}`,
      kind: "BrowserPool",
      name: pool.metadata.name,
    });
    const [least, most] = [spec[min], spec[max]].map(Number);
    expect(least).toBe(pool.spec.size);
    expect(least).toBeGreaterThanOrEqual(1);
    expect(most).toBeGreaterThan(least ?? 0);
  });
});

test("the queries ask for metrics, labels and states that the api tells", async () => {
  const registry = new Registry();
  const counts = { size: 3, available: 1, acquired: 2, starting: 0, waiting: 0 };
  const pools = () => [
    {
      ...counts,
      ...{ key: "uid", project: "p", pool: "search", createdAt: "2026-01-01T00:00:00Z" },
      outdated: { image: 0, configuration: 0 },
      chromium: [],
    },
  ];
  createPoolMetrics(registry, { most: 1, pools });
  const told = await registry.metrics();
  for (const file of ["prometheus-adapter-values.yaml", "keda.yaml"]) {
    const asked = [...read(file).matchAll(/(browserpool_pool_(?:browsers|waiting_callers))(?:\{([^}]*)\})?/g)];
    expect(asked.length).toBeGreaterThanOrEqual(2);
    for (const [, name, labels = ""] of asked) {
      expect(told).toContain(`${name}{`);
      if (labels.includes("state=")) expect(told).toContain(/state="\w+"/.exec(labels)?.[0]);
    }
  }
  const { rules } = parse(read("prometheus-adapter-values.yaml")) as {
    rules: { external: { name: { as: string } }[] };
  };
  const [metric] = only("hpa.yaml", "HorizontalPodAutoscaler").spec.metrics as { external: { metric: object } }[];
  expect(metric?.external.metric).toEqual({
    name: rules.external[0]?.name.as,
    selector: { matchLabels: { pool: "search" } },
  });
});
