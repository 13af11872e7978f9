import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { drawn, notDrawn, readDraw, slowFolders } from "../support/slow-tests.ts";

const root = join(import.meta.dirname, "../..");
const filesIn = (folder: string): string[] => globSync(`${folder}/**/*.test.ts`, { cwd: root });
const files = slowFolders.flatMap(filesIn);
const seeds = Array.from({ length: 40 }, (_, seed) => `${seed}`);

test.each(slowFolders)("a share of %s runs, other files with another seed, and each of them sometime", (folder) => {
  const own = filesIn(folder);
  const ran = new Set<string>();
  for (const seed of seeds) {
    const left = new Set(notDrawn(root, { oneOf: 3, seed }));
    const runs = own.filter((file) => !left.has(file));
    expect(runs.length).toBe(Math.ceil(own.length / 3));
    for (const file of runs) ran.add(file);
  }
  expect(ran.size).toBe(own.length);
});

test("the same seed draws the same files, in whatever order they are found", () => {
  const draw = { oneOf: 3, seed: "7" };
  expect(drawn(files.toReversed(), draw)).toEqual(drawn(files, draw));
  expect(drawn(files, draw)).not.toEqual(drawn(files, { ...draw, seed: "8" }));
});

test("one of one is all, and only slow tests are left out", () => {
  expect(notDrawn(root, { oneOf: 1, seed: "7" })).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(notDrawn(root, { oneOf: 9, seed: "7" })));
});

test("nothing is drawn unless it is asked for, and what can't be meant is refused", () => {
  expect(readDraw({})).toBeUndefined();
  expect(readDraw({ SLOW_TESTS_ONE_OF: "3", SLOW_TESTS_SEED: "x" })).toEqual({ oneOf: 3, seed: "x" });
  expect(() => readDraw({ SLOW_TESTS_ONE_OF: "0", SLOW_TESTS_SEED: "x" })).toThrow("SLOW_TESTS_ONE_OF=0: ");
  expect(() => readDraw({ SLOW_TESTS_SEED: "x" })).toThrow("SLOW_TESTS_ONE_OF=: ");
  expect(() => readDraw({ SLOW_TESTS_ONE_OF: "3" })).toThrow("SLOW_TESTS_SEED is missing");
});
