import { expect, test } from "vitest";
import { checkFrontDoor } from "./check-front-door.ts";

const problems = (index: string, readme = ""): string[] =>
  checkFrontDoor(new Map(Object.entries({ "docs/README.md": index, "README.md": readme, "docs/a.md": "" })));

test("every page of docs has one place in its index", () => {
  expect(problems("[a](a.md)")).toEqual([]);
  expect(problems("[a](a.md#part), [root](../README.md)")).toEqual([]);
  expect(problems("")).toEqual(["docs/README.md lists docs/a.md 0 times; each page has one place"]);
  expect(problems("[a](a.md), [b](a.md)")).toEqual(["docs/README.md lists docs/a.md 2 times; each page has one place"]);
});

test("the README is short", () => {
  expect(problems("[a](a.md)", "\n".repeat(120))).toEqual([]);
  expect(problems("[a](a.md)", "\n".repeat(121))).toEqual(["README.md has 121 lines, of 120 at most"]);
});
