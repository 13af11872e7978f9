/** Whether local mode's warning is true of the Chromium that it starts. */
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { filledPool } from "../support/filled-pool.ts";
import { startLocalStack } from "../support/local-stack.ts";

/** The arguments of every process whose command names the data directory. */
const commandsOf = async (dataDir: string): Promise<string[]> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const read = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""));
  return (await Promise.all(read)).filter((command) => command.includes(`--user-data-dir=${dataDir}`));
};

test("root is warned once that Chromium has no sandbox; others have it, and no warning", async () => {
  await using stack = await startLocalStack();
  await filledPool(stack.kernel, { size: 1, headless: true });
  const chromium = await commandsOf(stack.dataDir);
  expect(chromium.length).toBeGreaterThan(0);
  const isRoot = process.getuid?.() === 0;
  expect(chromium.some((command) => command.split("\0").includes("--no-sandbox"))).toBe(isRoot);
  expect(stack.output().match(/runs without its sandbox/g) ?? []).toHaveLength(isRoot ? 1 : 0);
});
