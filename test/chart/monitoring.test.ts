/** Alerts and dashboard use metrics of the service, and each alert has a runbook section. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../../scripts/generated-file.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

type Alert = { alert: string; expr: string };
const alerts = parse(read("charts/browserpool/files/alerts.yaml")) as Alert[];

/** Names of metrics in the code, and of those that prom-client and Prometheus add. */
const measured = new Set([
  ...globSync("src/**/*-metrics.ts", { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/name: "(browserpool_\w+)"/g)].map(([, name = ""]) => name),
  ),
  "up",
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "nodejs_eventloop_lag_p99_seconds",
]);

/** Names of series in an expression; a histogram's by its base name. */
const seriesIn = (expression: string): string[] =>
  (expression.match(/\b(up|browserpool_\w+|process_\w+|nodejs_\w+)\b(?=[{\s)])/g) ?? []).map((name) =>
    name.replace(/_(bucket|count|sum)$/, ""),
  );

test("every alert uses existing metrics", () => {
  const asked = alerts.flatMap(({ expr }) => seriesIn(expr));
  expect(asked.length).toBeGreaterThanOrEqual(alerts.length);
  expect(asked.filter((name) => !measured.has(name))).toEqual([]);
});

test("every panel uses existing metrics", () => {
  const { panels } = JSON.parse(read("charts/browserpool/files/dashboard.json")) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(15);
  expect(expressions.filter((expr) => seriesIn(expr).length === 0)).toEqual([]);
  expect(expressions.flatMap(seriesIn).filter((name) => !measured.has(name))).toEqual([]);
});

test("the runbook has a section for each alert, and no other section", () => {
  const sections = [...read("docs/runbook.md").matchAll(/^## (\S+)$/gm)].map(([, title]) => title);
  expect(sections).toEqual(alerts.map(({ alert }) => alert));
});
