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
  // Of kube-state-metrics.
  "kube_job_created",
  "kube_job_status_failed",
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
  (expression.match(/(?<!:)\b(up|browserpool_\w+|process_\w+|nodejs_\w+|kube_job_\w+)\b(?=[{\s)])/g) ?? []).map(
    (name) => name.replace(/_(bucket|count|sum)$/, ""),
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

const dashboard = JSON.parse(read("charts/browserpool/files/dashboard.json")) as {
  templating: { list: { name: string; query: string | { query: string } }[] };
  panels: {
    id: number;
    type: string;
    title: string;
    targets?: { expr: string }[];
    gridPos: Record<"h" | "w" | "x" | "y", number>;
  }[];
};

test("every panel uses existing metrics, recorded series and variables", () => {
  const { panels, templating } = dashboard;
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const queries = templating.list.flatMap(({ query }) => (typeof query === "string" ? [] : query.query));
  expect(expressions.length).toBeGreaterThan(35);
  expect(expressions.filter((expr) => seriesIn(expr).length + recordsIn(expr).length === 0)).toEqual([]);
  const all = [...expressions, ...queries.map((query) => query.replace("label_values(", "").replace(/, \w+\)$/, ""))];
  expect(all.flatMap(seriesIn).filter((name) => !measured.has(name))).toEqual([]);
  expect(all.flatMap(unknownLabelsIn)).toEqual([]);
  expect(all.flatMap(recordsIn).filter((name) => !recorded.has(name))).toEqual([]);
  const variables = new Set([...templating.list.map(({ name }) => name), "__rate_interval"]);
  const asked = all.flatMap((expr) => [...expr.matchAll(/\$(\w+)/g)].map(([, name = ""]) => name));
  expect(asked.filter((name) => !variables.has(name))).toEqual([]);
  for (const name of ["project", "pool"]) expect(asked).toContain(name);
});

test("every metric of ours is watched by a panel, an alert or a rule, but for those of single findings", () => {
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const watched = new Set([...expressions, ...[...alerts, ...records].map(({ expr }) => expr)].flatMap(seriesIn));
  expect([...labels.keys()].filter((name) => !watched.has(name)).sort()).toEqual([
    "browserpool_ended_leases",
    "browserpool_ended_leases_bytes",
    "browserpool_ended_leases_dropped_total",
    "browserpool_limited_requests_total",
    "browserpool_on_demand_browsers_total",
    "browserpool_pod_resizes_total",
    "browserpool_pool_chromium_browsers",
    "browserpool_recovering_browsers",
    "browserpool_session_outcomes_total",
    "browserpool_site_trials_total",
    "browserpool_spans_dropped_total",
    "browserpool_telemetry_export_dropped_total",
  ]);
});

test("panels have ids of their own and do not overlap", () => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
    Array.from({ length: h * w }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

test("the runbook names panels by their titles", () => {
  const titles = new Set(dashboard.panels.map(({ title }) => title));
  const named = [
    ...read("docs/runbook.md")
      .replaceAll("\n", " ")
      .matchAll(/panels? \*([^*]+)\*(?: and \*([^*]+)\*)?/g),
  ]
    .flatMap(([, one, two]) => [one, two])
    .filter((title) => title !== undefined);
  expect(named.length).toBeGreaterThan(5);
  const starts = [...titles].flatMap((title) => [title, title.split(",")[0] ?? ""]);
  expect(named.filter((title) => !starts.includes(title))).toEqual([]);
});

test("the runbook has a section for each alert, and no other section", () => {
  const sections = [...read("docs/runbook.md").matchAll(/^## (\S+)$/gm)].map(([, title]) => title);
  expect(sections).toEqual(alerts.map(({ alert }) => alert));
});
