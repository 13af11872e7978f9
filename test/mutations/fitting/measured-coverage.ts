/**
 * What each test file runs, as it was measured last on this machine. It is kept outside of the tree, for all copies of
 * the project, and by content: what was measured holds as long as test and functions are the same.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { cacheDir } from "../../../src/local/locate-programs.mjs";
import { root } from "../tree.ts";

/** `digest`: of the test file. `hits`: what functions and scripts say (instrument.ts). */
type TestCoverage = { digest: string; seconds: number; hits: readonly string[] };
/** By test file. */
export type Coverage = Readonly<Record<string, TestCoverage>>;

/** Each hit is written once, and named by its place in the list. */
const Stored = z.object({
  hits: z.array(z.string()),
  tests: z.record(z.string(), z.object({ digest: z.string(), seconds: z.number(), hits: z.array(z.int()) })),
});

/** Where it is kept. */
export const coveragePath = join(cacheDir(process.env), "mutations/coverage.json");

/** A digest of a file of the tree. */
export const digestOf = (file: string): string =>
  createHash("sha256")
    .update(readFileSync(join(root, file)))
    .digest("hex")
    .slice(0, 16);

/** Of the tests that there still are; none when it was never measured. */
export const readCoverage = async (): Promise<Coverage> => {
  if (!existsSync(coveragePath)) return {};
  const { hits, tests } = Stored.parse(JSON.parse(await readFile(coveragePath, "utf8")));
  const present = Object.entries(tests).filter(([file]) => existsSync(join(root, file)));
  return Object.fromEntries(
    present.map(([file, test]) => [file, { ...test, hits: test.hits.flatMap((place) => hits[place] ?? []) }]),
  );
};

export const writeCoverage = async (coverage: Coverage): Promise<void> => {
  const places = new Map<string, number>();
  const placeOf = (hit: string): number => {
    if (!places.has(hit)) places.set(hit, places.size);
    return places.get(hit) ?? 0;
  };
  const tests = Object.fromEntries(
    Object.entries(coverage).map(([file, test]) => [file, { ...test, hits: test.hits.map(placeOf) }]),
  );
  await mkdir(dirname(coveragePath), { recursive: true });
  // Another run may read it meanwhile.
  const written = `${coveragePath}.${process.pid}`;
  await writeFile(written, JSON.stringify({ hits: [...places.keys()], tests } satisfies z.infer<typeof Stored>));
  await rename(written, coveragePath);
};

/** Share of what a test runs that may have changed before it is measured again. */
const mostChanged = 0.2;

/**
 * Whether a test must be measured: it is new, it has changed, or the product that it runs has. `present`: hits that the
 * product can make.
 */
export const isStale = (
  test: TestCoverage | undefined,
  { digest, present }: { digest: string; present: ReadonlySet<string> },
): boolean => {
  if (!test || test.digest !== digest) return true;
  const gone = test.hits.filter((hit) => !present.has(hit)).length;
  return gone > mostChanged * test.hits.length;
};
