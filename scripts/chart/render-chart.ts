import { join } from "node:path";
import { root } from "../generated-file.ts";
import { cachedProgram, type Ended, runProgram } from "../run-program.ts";

/** Folder of the chart. */
export const chartFolder = join(root, "charts/browserpool");

/** The release's name and namespace are those of the documentation. */
const release = ["browserpool", chartFolder, "--namespace=browserpool-system"];

/** Values that have no default: the images. They come before all others. */
export const requiredValues = join(chartFolder, "ci/required-values.yaml");

/**
 * Runs `helm template` with the required values and further arguments. No cluster is involved, so `lookup` finds
 * nothing. Throws a `MissingProgram`.
 */
export const renderChart = (...args: string[]): Promise<Ended> =>
  runProgram(cachedProgram("helm"), ["template", ...release, `--values=${requiredValues}`, ...args]);

/** Returns the rendered objects as YAML. Throws an Error with Helm's message. */
export const renderedChart = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await renderChart(...args);
  if (code !== 0) throw new Error(`helm template ${args.join(" ")}: ${stderr.trim()}`);
  return stdout;
};
