/**
 * `npm run plots -- FILE`: draws the traces of a run of `npm run bench -- --only autoscale --json FILE` into
 * docs/images.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plotTrace } from "./plot.ts";
import type { Trace } from "./trace.ts";

const [file] = process.argv.slice(2);
if (file === undefined)
  throw new Error("usage: npm run plots -- FILE, where FILE is what --json of npm run bench wrote");
const { sections } = JSON.parse(readFileSync(file, "utf8")) as { sections: { section: string; detail?: Trace[] }[] };
const traces = sections.find(({ section }) => section === "autoscale")?.detail;
if (!traces) throw new Error(`${file} has no figures of the section autoscale`);
for (const trace of traces) {
  const picture = join(import.meta.dirname, "..", "..", "docs", "images", `autoscale-${trace.name}.svg`);
  writeFileSync(picture, plotTrace(trace));
  process.stdout.write(`wrote ${picture}\n`);
}
