import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { applyPatches } from "../robustness/hook/source-patch.ts";
import { areaNames, areaOf } from "./areas.ts";
import { keptMistakes } from "./kept-mistakes.ts";
import { root } from "./tree.ts";

test("every mistake fits the product in one place, and changes it", () => {
  for (const { name, ...patch } of keptMistakes) {
    const text = readFileSync(join(root, "src", patch.file), "utf8");
    expect(applyPatches(patch.file, text, [patch]), name).not.toBe(text);
  }
});

test("mistakes have names of their own, and are of every area", () => {
  const names = keptMistakes.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)+$/.test(name))).toEqual([]);
  expect(new Set(keptMistakes.map(({ file }) => areaOf(file)))).toEqual(new Set(areaNames));
});

test("every mistake names a test file that there is, or may stay", () => {
  const unnamed = keptMistakes.filter(({ foundBy, mayStay }) => foundBy === undefined && mayStay === undefined);
  expect(unnamed.map(({ name }) => name)).toEqual([]);
  const gone = keptMistakes.filter(({ foundBy }) => foundBy !== undefined && !existsSync(join(root, foundBy)));
  expect(gone.map(({ name, foundBy }) => `${name}: ${foundBy}`)).toEqual([]);
});
