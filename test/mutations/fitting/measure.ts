/** Runs tests in copies of the tree whose functions say that they run. */
import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { applyPatches } from "../../robustness/hook/source-patch.ts";
import { runTests } from "../run-tests.ts";
import { copyTree, type Tree } from "../tree.ts";
import { isNoting, presentHits } from "./hits.ts";
import { instrumented, notingFile } from "./instrument.ts";
import { type Coverage, digestOf, isStale } from "./measured-coverage.ts";

/** Copies that share out the test files: tests wait a lot. */
const mostTrees = 4;
/** Limit of the whole, ms. */
const timeoutMs = 7_200_000;

/** Scripts in Redis say by this that they run. */
const scriptNote = {
  file: "platform/redis/script.ts",
  find: "  try {\n    return await redis.evalsha(",
  replace: '  globalThis.noteHit?.("lua:" + script.name);\n  try {\n    return await redis.evalsha(',
};

const instrumentTree = async ({ folder }: Tree): Promise<void> => {
  const source = join(folder, "src");
  for (const file of (await readdir(source, { recursive: true })).filter(isNoting)) {
    const text = await readFile(join(source, file), "utf8");
    // By its own text a function is known again, so the note on scripts comes after.
    await writeFile(join(source, file), applyPatches(file, instrumented(file, text), [scriptNote]));
  }
  await copyFile(join(import.meta.dirname, "hit.mjs"), join(source, notingFile));
};

const hitsIn = async ({ folder }: Tree): Promise<[file: string, hits: string[]][]> => {
  const hits = join(folder, ".browserpool/hits");
  const names = (await readdir(hits)).filter((name) => name !== "current");
  const read = names.map(async (name) => {
    const lines = (await readFile(join(hits, name), "utf8")).split("\n").filter((line) => line !== "");
    return [decodeURIComponent(name), [...new Set(lines)]] as [string, string[]];
  });
  return Promise.all(read);
};

/** `files`: the tests that are run. `say`: is told of tests that fail. */
type Wanted = { files: readonly string[]; say: (text: string) => void; signal: AbortSignal };

const measureShard = async (shard: string, { files, say, signal }: Wanted): Promise<Coverage> => {
  await using tree = await copyTree();
  await instrumentTree(tree);
  // Each file in a process of its own, so that it loads what it runs.
  const args = [`--shard=${shard}`, "--isolate"];
  const config = "test/mutations/fitting/vitest.config.ts";
  const end = await runTests(tree, { files, config, args, timeoutMs, signal });
  if (end.kind !== "ran") throw new Error(`the tests of shard ${shard} came to no end: ${end.why}`);
  for (const { file, name, error } of end.failed) say(`failed: ${file}: ${name}: ${error}`);
  // What failed may have left out the most of what it runs, so it is measured again the next time.
  const failed = new Set(end.failed.map(({ file }) => file));
  const passed = (await hitsIn(tree)).filter(([file]) => !failed.has(file));
  return Object.fromEntries(
    passed.map(([file, hits]) => [file, { digest: digestOf(file), seconds: end.seconds.get(file) ?? 0, hits }]),
  );
};

/** Those of the test files that are new, that have changed, or that run much that has. */
export const staleTests = (tests: readonly string[], coverage: Coverage): string[] => {
  const present = presentHits();
  return tests.filter((file) => isStale(coverage[file], { digest: digestOf(file), present }));
};

/** What each of these test files runs, and how long it takes. All of them take about as long as `npm test`. */
export const measureCoverage = async (wanted: Wanted): Promise<Coverage> => {
  if (wanted.files.length === 0) return {};
  const failing = new AbortController();
  const signal = AbortSignal.any([wanted.signal, failing.signal]);
  const trees = Math.min(mostTrees, wanted.files.length);
  const shards = Array.from({ length: trees }, (_, index) =>
    measureShard(`${index + 1}/${trees}`, { ...wanted, signal }),
  );
  for (const shard of shards) shard.catch(() => failing.abort());
  // Each removes its copy.
  await Promise.allSettled(shards);
  return Object.assign({}, ...(await Promise.all(shards))) as Coverage;
};
