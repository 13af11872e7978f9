import { expect, test } from "vitest";
import type { Field } from "./field-paths.ts";
import type { Setting } from "./setting.ts";
import { settingProblems } from "./setting-problems.ts";

const field: Field = { path: "size", yaml: "size", owners: new Set(["pool"]), description: "How many." };
const setting: Setting = { by: "operator", takesHold: { pool: "at once" }, shownBy: { "a.test.ts": ["grows"] } };

const read = async (file: string): Promise<string> => {
  if (file !== "a.test.ts") throw new Error("ENOENT");
  return 'test("grows", () => {});';
};

const problems = (change: Partial<Setting> | undefined, path = "size"): Promise<string[]> =>
  settingProblems([field], new Map(change && [[path, { ...setting, ...change }]]), read);

test("a field with a row whose test is there is well", async () => {
  expect(await problems({})).toEqual([]);
});

test("a field without a row and a row without a field are named", async () => {
  expect(await problems(undefined)).toEqual(["size: has no row in scripts/settings"]);
  expect(await problems({}, "sizes")).toEqual([
    "size: has no row in scripts/settings",
    "sizes: no schema has this field",
  ]);
});

test.each<[Partial<Setting>, string]>([
  [{ shownBy: {} }, "size: names no test"],
  [{ shownBy: { "a.test.ts": ["shrinks"] } }, "size: a.test.ts has no test “shrinks”"],
  [{ shownBy: { "b.test.ts": ["grows"] } }, "size: b.test.ts is not there"],
  [{ effect: "" }, "size: has no effect: describe it in its schema"],
  [{ takesHold: { browser: "at once" } }, "size: takesHold does not name those that have the field"],
])("%j is refused", async (change, problem) => {
  expect(await problems(change)).toEqual([problem]);
});
