import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allChecks } from "../checks/all-checks.ts";
import { applyPatches, type SourcePatch } from "../hook/source-patch.ts";
import { standingPatches } from "../hook/standing-patches.ts";
import { allBugs } from "./bugs.ts";

const source = join(import.meta.dirname, "../../../src");

/** Applies all of them; the files' texts. */
const patched = (patches: readonly SourcePatch[]): string[] =>
  [...new Set(patches.map(({ file }) => file))].map((file) =>
    applyPatches(file, readFileSync(join(source, file), "utf8"), patches),
  );

test("the patches of every process fit the product", () => {
  expect(patched(standingPatches).length).toBeGreaterThan(2);
});

test.each(allBugs)("the bug $name fits the product, beside them", ({ patches }) => {
  expect(patched([...standingPatches, ...patches]).length).toBeGreaterThan(2);
});

test("bugs have names of their own, and checks that exist", () => {
  expect(new Set(allBugs.map(({ name }) => name)).size).toBe(allBugs.length);
  const known = allChecks.map(({ name }) => name);
  expect(allBugs.flatMap(({ foundBy }) => foundBy).filter((check) => !known.includes(check))).toEqual([]);
});

test("a patch that fits nowhere, or in two places, is refused", () => {
  const patch = { file: "a.ts", find: "x", replace: "y" };
  expect(applyPatches("a.ts", "axb", [patch])).toBe("ayb");
  expect(() => applyPatches("a.ts", "ab", [patch])).toThrow(/fits 0 places/);
  expect(() => applyPatches("a.ts", "xax", [patch])).toThrow(/fits 2 places/);
  expect(applyPatches("b.ts", "ab", [patch])).toBe("ab");
});
