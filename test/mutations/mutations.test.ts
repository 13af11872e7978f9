import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { applyPatches } from "../robustness/hook/source-patch.ts";
import { allMutations, areaNames, areaOf } from "./all-mutations.ts";
import { readFittingTests } from "./run-mutations.ts";
import { root } from "./tree.ts";

test("every mistake fits the product in one place, and changes it", () => {
  for (const { name, ...patch } of allMutations) {
    const text = readFileSync(join(root, "src", patch.file), "utf8");
    expect(applyPatches(patch.file, text, [patch]), name).not.toBe(text);
  }
});

test("mistakes have names of their own, and are of every area", () => {
  const names = allMutations.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)+$/.test(name))).toEqual([]);
  expect(new Set(allMutations.map(areaOf))).toEqual(new Set(areaNames));
});

test("for every mistake it is known which tests fit, and those exist", async () => {
  const fitting = await readFittingTests();
  expect(Object.keys(fitting).toSorted()).toEqual(allMutations.map(({ name }) => name).toSorted());
  expect([...new Set(Object.values(fitting).flat())].filter((file) => !existsSync(join(root, file)))).toEqual([]);
  const untested = allMutations.filter(({ name, mayStay }) => fitting[name]?.length === 0 && mayStay === undefined);
  expect(untested.map(({ name }) => name)).toEqual([]);
});
