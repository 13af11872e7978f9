import { expect, test } from "vitest";
import { testTitles } from "./test-titles.ts";

test("titles are those of tests and groups, also of rows and conditions, and nothing else", () => {
  const text = `
    describe("a group", () => {
      test("one", () => {});
      test.each([["a row", 1]])("of rows: %s", () => { say("no title"); });
      test.runIf(host).each([1])("on conditions", () => {});
      // test("a remark", () => {});
    });`;
  expect(testTitles("some.test.ts", text)).toEqual(new Set(["a group", "one", "of rows: %s", "on conditions"]));
});
