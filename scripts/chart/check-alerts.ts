/**
 * Evaluates the alerts and rules of the chart with Prometheus' own program. charts/browserpool/tests/alerts.yaml has for
 * every alert series that make it fire, and such that leave it silent. The queries of the dashboard are only read.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";
import { cachedProgram, outputOf } from "../run-program.ts";
import { chartFolder, renderedChart } from "./render-chart.ts";

/** `series`: by series, values in promtool's notation, one a minute. `at`: when to look. */
type Case = { series: Record<string, string>; at: string };

/** A name may come several times. */
type AlertCases = { alert: string; fires: Case; silent: Case };

type Rule = { alert?: string; record?: string; expr: string };
type PrometheusRule = { kind: string; spec: { groups: { rules: Rule[] }[] } };

const renderedRules = async (): Promise<PrometheusRule["spec"]> => {
  const rendered = await renderedChart("--set=monitoring.prometheusRule.enabled=true");
  const objects = parseAllDocuments(rendered).map((document) => document.toJS() as PrometheusRule | null);
  const found = objects.find((object) => object?.kind === "PrometheusRule");
  if (!found) throw new Error("the chart renders no PrometheusRule");
  return found.spec;
};

/** An alert, and before it the rules that it reads: to evaluate all of them for every alert takes ten times as long. */
const rulesOf = (alert: string, all: Rule[]): Rule[] => {
  const wanted = new Set(all.filter((rule) => rule.alert === alert));
  for (const { expr } of wanted) {
    const read = new Set(expr.match(/\bproject_pool:[\w:]+/g));
    for (const rule of all) if (rule.record && read.has(rule.record)) wanted.add(rule);
  }
  return all.filter((rule) => wanted.has(rule)).sort((a, b) => Number("alert" in a) - Number("alert" in b));
};

/** One test of promtool: whether the alert fires with the series of the case. */
const promtoolTest = (alert: string, { series, at }: Case, fires: number) => ({
  name: `${alert} ${fires ? "fires" : "stays silent"}`,
  interval: "1m",
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  promql_expr_test: [
    {
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
      eval_time: at,
      exp_samples: [{ labels: "{}", value: fires }],
    },
  ],
});

/** The dashboard's queries as rules, with values for Grafana's variables: promtool checks rules alone. */
const dashboardRules = async (): Promise<object> => {
  const { panels } = JSON.parse(await readFile(join(chartFolder, "files/dashboard.json"), "utf8")) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const rules = panels
    .flatMap(({ targets = [] }) => targets)
    .map(({ expr }, index) => ({
      record: `panel:query:${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m").replaceAll(/\$\w+/g, "x"),
    }));
  return { groups: [{ name: "dashboard", rules }] };
};

/** Throws an Error with what differs, and with the alerts that have no case. */
export const checkAlerts = async (): Promise<void> => {
  const promtool = cachedProgram("promtool");
  const rules = await renderedRules();
  const cases = parse(await readFile(join(chartFolder, "tests/alerts.yaml"), "utf8")) as AlertCases[];
  const alerts = new Set(rules.groups.flatMap(({ rules: some }) => some.flatMap(({ alert }) => alert ?? [])));
  const shown = new Set(cases.map(({ alert }) => alert));
  const odd = [...alerts.symmetricDifference(shown)];
  if (odd.length > 0) throw new Error(`not in the chart and in tests/alerts.yaml alike: ${odd.join(", ")}`);
  const folder = await mkdtemp(join(tmpdir(), "browserpool-alerts-"));
  try {
    const file = async (name: string, content: unknown): Promise<string> => {
      const path = join(folder, `${name}.yaml`);
      await writeFile(path, stringify(content));
      return path;
    };
    await outputOf(promtool, ["check", "rules", "--lint=all", "--lint-fatal", await file("all", rules)]);
    await outputOf(promtool, ["check", "rules", await file("dashboard", await dashboardRules())]);
    const all = rules.groups.flatMap(({ rules: some }) => some);
    const tests = [...alerts].map(async (alert) => {
      const groups = [{ name: "one", interval: "1m", rules: rulesOf(alert, all) }];
      const own = cases.filter((one) => one.alert === alert);
      return file(`${alert}-tests`, {
        rule_files: [await file(alert, { groups })],
        evaluation_interval: "1m",
        tests: own.flatMap(({ fires, silent }) => [promtoolTest(alert, fires, 1), promtoolTest(alert, silent, 0)]),
      });
    });
    await outputOf(promtool, ["test", "rules", ...(await Promise.all(tests))]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
