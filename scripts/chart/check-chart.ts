/**
 * The steps of `npm run check` that check the chart. Each runs alone and needs neither a cluster nor the internet.
 * Values in charts/browserpool/ci and charts/browserpool/platforms must work. Values in tests/bad-values must be refused, for the reason in their first
 * line.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { root } from "../generated-file.ts";
import { cachedProgram, outputOf } from "../run-program.ts";
import type { Step } from "../step.ts";
import { checkAlerts } from "./check-alerts.ts";
import { embeddedObjects } from "./embedded-objects.ts";
import { chartFolder, renderChart, renderedChart, requiredValues } from "./render-chart.ts";
import { checkCommonMetadata, checkSameTwice } from "./whole-chart.ts";
import { schemaFileTemplate, writeSchemas } from "./write-schemas.ts";

const valueFiles = async (folder: string): Promise<string[]> =>
  (await readdir(join(chartFolder, folder)))
    .filter((file) => file.endsWith(".yaml"))
    .sort()
    .map((file) => join(chartFolder, folder, file));

/** Helm's argument for each file of good values: those of the checks, and those for users, by the kind of cluster. */
const goodValues = async (): Promise<string[]> =>
  [...(await valueFiles("ci")), ...(await valueFiles("platforms"))].map((file) => `--values=${file}`);

const lint = async (): Promise<void> => {
  for (const values of await goodValues())
    await outputOf(cachedProgram("helm"), [
      ...["lint", "--strict", "--quiet", chartFolder],
      ...[`--values=${requiredValues}`, values],
    ]);
};

const unitTests = (): Promise<string> =>
  outputOf(cachedProgram("helm-unittest"), ["--strict", "--values", requiredValues, chartFolder]);

/** Kinds of other projects; the repository has no schemas for them. */
const otherKinds = "BackendConfig,HTTPRoute,PrometheusRule,SeccompProfile,ServiceMonitor";

/**
 * Validates every object that the chart renders with good values, and every object that it embeds in files for the
 * operator.
 */
const conformance = async (): Promise<void> => {
  const kubeconform = cachedProgram("kubeconform");
  const folder = await mkdtemp(join(tmpdir(), "browserpool-schemas-"));
  try {
    await writeSchemas(folder);
    const schemas = ["-schema-location", join(folder, schemaFileTemplate), "-skip", otherKinds];
    const validate = (input: string, ...files: string[]) =>
      outputOf(kubeconform, ["-strict", ...schemas, ...(files.length > 0 ? files : ["-"])], input);
    for (const values of await goodValues()) {
      const rendered = await renderedChart(values);
      await validate(rendered);
      const { pods, projectObjects } = embeddedObjects(rendered);
      await validate([...pods, ...projectObjects].map((object) => stringify(object)).join("---\n"));
    }
    await validate("", join(root, "manifests"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Helm's error for a file of bad values must contain the text after `# refused: ` in its first line. */
const refuse = async (file: string): Promise<string | undefined> => {
  const reason = /^# refused: (.+)$/m.exec(await readFile(file, "utf8"))?.[1];
  if (!reason) return `${file}: the first line must be "# refused: <what Helm says>"`;
  const { code, stderr } = await renderChart(`--values=${file}`);
  if (code === 0) return `${file} is not refused`;
  return stderr.includes(reason)
    ? undefined
    : `${file} is refused for another reason than "${reason}":\n${stderr.trim()}`;
};

const refusals = async (): Promise<void> => {
  const complaints = await Promise.all((await valueFiles("tests/bad-values")).map(refuse));
  const said = complaints.filter((complaint) => complaint !== undefined);
  if (said.length > 0) throw new Error(said.join("\n"));
};

/** Good values need no step of their own: the other steps use them. */
export const chartSteps: readonly Step[] = [
  { name: "chart: lint", run: lint },
  { name: "chart: unit tests", run: unitTests },
  { name: "chart: objects conform to their schemas", run: conformance },
  { name: "chart: bad values are refused", run: refusals },
  { name: "chart: common labels and annotations are on all objects and on no pod", run: checkCommonMetadata },
  { name: "chart: the same values render the same", run: checkSameTwice },
  { name: "chart: each alert fires and stays silent as meant", run: checkAlerts },
];
