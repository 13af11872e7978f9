/** Alerts and dashboard use metrics of the service, and each alert has a runbook section. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { registeredMetrics } from "../../scripts/gen-metrics.ts";
import { root } from "../../scripts/generated-file.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

type Alert = { alert: string; expr: string };
const alerts = parse(read("charts/browserpool/files/alerts.yaml")) as Alert[];
const records = parse(read("charts/browserpool/files/rules.yaml")) as { record: string; expr: string }[];

/** The series that the rules record, for each window as the template has it. */
const recorded = new Set(
  records.flatMap(({ record }) =>
    ["5m", "30m", "1h", "2h", "6h", "1d", "3d"].map((window) => record.replace("WINDOW", window)),
  ),
);

/** Names of recorded series in an expression; in a rule for every window. */
const recordsIn = (expression: string): string[] => expression.match(/\bproject_pool:[\w:]+/g) ?? [];

const registered = await registeredMetrics();
const labels = new Map([...registered.api, ...registered.operator].map((metric) => [metric.name, metric.labels]));

/** Names of metrics that the processes register, and of those that prom-client and Prometheus add. */
const measured = new Set([
  ...labels.keys(),
  "up",
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "nodejs_eventloop_lag_p99_seconds",
]);

/** Labels that Prometheus adds when it scrapes, and that of a histogram's buckets. */
const added = ["job", "namespace", "pod", "instance", "le"];

/** Labels that an expression asks of a metric of ours, and that it does not have. */
const unknownLabelsIn = (expression: string): string[] =>
  [...expression.matchAll(/(?<!:)\b(browserpool_\w+)\{([^}]*)\}/g)].flatMap(([, series = "", selector = ""]) => {
    const known = [...(labels.get(series.replace(/_(bucket|count|sum)$/, "")) ?? []), ...added];
    return [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)]
      .map(([, label = ""]) => label)
      .filter((label) => !known.includes(label))
      .map((label) => `${series}{${label}}`);
  });

/** Names of series in an expression; a histogram's by its base name. */
const seriesIn = (expression: string): string[] =>
  (expression.match(/(?<!:)\b(up|browserpool_\w+|process_\w+|nodejs_\w+)\b(?=[{\s)])/g) ?? []).map((name) =>
    name.replace(/_(bucket|count|sum)$/, ""),
  );

test("every alert uses existing metrics or recorded series, and every rule existing metrics", () => {
  const none = [...alerts, ...records].filter(({ expr }) => seriesIn(expr).length + recordsIn(expr).length === 0);
  expect(none).toEqual([]);
  const asked = [...alerts, ...records].flatMap(({ expr }) => seriesIn(expr));
  expect(asked.filter((name) => !measured.has(name))).toEqual([]);
  expect([...alerts, ...records].flatMap(({ expr }) => unknownLabelsIn(expr))).toEqual([]);
  expect(alerts.flatMap(({ expr }) => recordsIn(expr)).filter((name) => !recorded.has(name))).toEqual([]);
  const names = new Set(records.map(({ record }) => record));
  expect(records.flatMap(({ expr }) => recordsIn(expr)).filter((name) => !names.has(name))).toEqual([]);
});

test("every panel uses existing metrics", () => {
  const { panels } = JSON.parse(read("charts/browserpool/files/dashboard.json")) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(15);
  expect(expressions.filter((expr) => seriesIn(expr).length === 0)).toEqual([]);
  expect(expressions.flatMap(seriesIn).filter((name) => !measured.has(name))).toEqual([]);
  expect(expressions.flatMap(unknownLabelsIn)).toEqual([]);
});

test("the runbook has a section for each alert, and no other section", () => {
  const sections = [...read("docs/runbook.md").matchAll(/^## (\S+)$/gm)].map(([, title]) => title);
  expect(sections).toEqual(alerts.map(({ alert }) => alert));
});
