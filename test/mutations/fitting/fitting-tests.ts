/** Which tests fit a mistake: those that run the function in which it is, by what was measured. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Mutation } from "../mutation.ts";
import { root } from "../tree.ts";
import { functionsOf, hitOf } from "./instrument.ts";
import type { Coverage } from "./measured-coverage.ts";

/** Time that the tests of one mistake may take, one after the other, s. */
const budgetSeconds = 150;
/** What a file costs beside its tests, s: most of those with servers begin by starting some. */
const startSeconds = (file: string): number => (isUnitTest(file) ? 1 : 6);

const sourceOf = (file: string): string => readFileSync(join(root, "src", file), "utf8");

/** Scripts that contain an include; a script's own name is the one it is run by. */
const scriptsWith = (file: string): string[] => {
  const name = basename(file, ".lua");
  if (basename(dirname(file)) !== "includes") return [name];
  const folder = join(root, "src", dirname(dirname(file)));
  return readdirSync(folder)
    .filter((script) => script.endsWith(".lua"))
    .filter((script) =>
      /^-- @include (.+)$/m
        .exec(readFileSync(join(folder, script), "utf8"))?.[1]
        ?.split(" ")
        .includes(name),
    )
    .map((script) => basename(script, ".lua"));
};

/** The functions that name a file: what reads a page's script, or rules. */
const readersOf = (name: string): string[] =>
  (readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }) as string[])
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && sourceOf(file).includes(name))
    .flatMap((file) => [
      hitOf(file, "loaded"),
      ...functionsOf(file, sourceOf(file)).map(({ number }) => hitOf(file, number)),
    ]);

/** What a test must run so that it may notice the mistake: any of these. */
export const hitsOfMutation = ({ file, find }: Pick<Mutation, "file" | "find">): string[] => {
  if (file.endsWith(".lua")) return scriptsWith(file).map((name) => `lua:${name}`);
  if (!file.endsWith(".ts")) return readersOf(basename(file));
  const text = sourceOf(file);
  const at = text.indexOf(find);
  const around = functionsOf(file, text).filter(({ start, end }) => start <= at && at < end);
  // Functions come in the order in which they begin: the last one is the innermost.
  const innermost = around.at(-1);
  return [hitOf(file, innermost?.number ?? "loaded")];
};

/** Whether a test file stands beside what it tests, and needs no server. */
export const isUnitTest = (file: string): boolean => file.startsWith("src/");

/**
 * The test files for a mistake, in the order in which they run: the one that found it last, unit tests, then the others, as many as time
 * allows. The larger the share that the mistake's file has of all that a test runs, the more that test is about it.
 */
export const fittingTests = (
  mutation: Pick<Mutation, "file" | "find" | "tests">,
  coverage: Coverage,
  finder?: string,
): string[] => {
  if (mutation.tests) return [...mutation.tests];
  const wanted = new Set(hitsOfMutation(mutation));
  const isNear = (hit: string): boolean => wanted.has(hit) || hit.startsWith(`${mutation.file}#`);
  const fitting = Object.entries(coverage)
    .filter(([, { hits }]) => hits.some((hit) => wanted.has(hit)))
    .map(([file, { seconds, hits }]) => ({
      file,
      cost: seconds + startSeconds(file),
      share: hits.filter(isNear).length / hits.length,
    }));
  const chosen: typeof fitting = [];
  let left = budgetSeconds;
  const isFinder = ({ file }: { file: string }): number => Number(file === finder);
  for (const test of fitting.toSorted((a, b) => isFinder(b) - isFinder(a) || b.share - a.share)) {
    if (test.cost > left && !isUnitTest(test.file)) continue;
    left -= test.cost;
    chosen.push(test);
  }
  return chosen.toSorted((a, b) => Number(isUnitTest(b.file)) - Number(isUnitTest(a.file))).map(({ file }) => file);
};
