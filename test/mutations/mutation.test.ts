import { expect, test } from "vitest";
import { freshMutation } from "./fresh/fresh-mutation.ts";
import { diffOf, placeOf } from "./mutation.ts";

const text = "one();\nif (a) {\n  f();\n}\nif (b) {\n  f();\n}\n";
const edit = { start: text.lastIndexOf("  f();"), end: text.lastIndexOf("}"), replace: "" };
const mutation = freshMutation("statement", { file: "a.ts", text, edit });

test("a fresh mistake has as many lines around it as make it fit in one place, and is named by kind, file and line", () => {
  expect(mutation).toMatchObject({ file: "a.ts", find: "if (b) {\n  f();\n", replace: "if (b) {\n" });
  expect(mutation.name).toMatch(/^statement:a\.ts:6:[0-9a-f]{6}$/);
});

test("a reader sees the lines that change, and the place is where they begin to", () => {
  expect(diffOf(mutation)).toBe("- f();\n+ (nothing)");
  expect(placeOf(mutation, text)).toBe(edit.start);
  expect(placeOf({ file: "a.ts", find: "one(1)", replace: "" }, text)).toBeLessThan(0);
});
