/** What each test file runs, as it was measured last. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { root } from "../tree.ts";

/** `hits`: names of functions and scripts (instrument.ts). */
const Coverage = z.record(z.string(), z.object({ seconds: z.number(), hits: z.array(z.string()) }));
/** By test file. */
export type Coverage = z.infer<typeof Coverage>;

const path = join(root, ".browserpool/mutations/coverage.json");

/** Of the tests that there still are. Rejects when it was never measured on this machine. */
export const readCoverage = async (): Promise<Coverage> => {
  const all = Coverage.parse(JSON.parse(await readFile(path, "utf8")));
  return Object.fromEntries(Object.entries(all).filter(([file]) => existsSync(join(root, file))));
};

export const writeCoverage = (coverage: Coverage): Promise<void> => writeFile(path, JSON.stringify(coverage));
