/** docs/cluster-settings.md matches the code. */
import { readFileSync } from "node:fs";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { createApiMetrics } from "../../src/core/metrics/api-metrics.ts";
import { createOperatorMetrics } from "../../src/core/metrics/operator-metrics.ts";
import { createPoolMetrics } from "../../src/core/metrics/pool-metrics.ts";
import { checkPodTemplate } from "../../src/core/pools/pod/pod-template.ts";
import { checkProjectObjects } from "../../src/core/projects/project-objects.ts";
import { createProcessMetrics } from "../../src/platform/metrics/process-metrics.ts";
import { docExamples } from "../support/doc-examples.ts";

const page = readFileSync(new URL("../../docs/cluster-settings.md", import.meta.url), "utf8");

test("its examples are valid", () => {
  const [template = "", objects = ""] = docExamples("cluster-settings.md", "yaml");
  const [first] = parseAllDocuments(template).map((document) => document.toJS() as unknown);
  expect(checkPodTemplate(first, "page").regions?.["eu-west"]).toBeDefined();
  const wanted = checkProjectObjects(
    parseAllDocuments(objects).map((document) => document.toJS() as unknown),
    "page",
  );
  expect(wanted.objects.map(({ kind }) => kind)).toEqual(["NetworkPolicy"]);
});

test("it lists every metric of ours, and no other", async () => {
  const { registry } = createProcessMetrics(async () => ({ redis: true, kubernetes: true }));
  const operator = new Registry();
  createOperatorMetrics(operator, () => true);
  createPoolMetrics(registry, { most: 1, pools: () => [] });
  createApiMetrics(registry, () => ({ size: 0, available: 0, acquired: 0, starting: 0, waiting: 0 }));
  const all = [...(await registry.getMetricsAsJSON()), ...(await operator.getMetricsAsJSON())];
  const ours = all.map(({ name }) => name).filter((name) => name.startsWith("browserpool_"));
  const named = [...page.matchAll(/`(browserpool_\w+)/g)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(ours));
});
