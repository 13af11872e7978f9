import { expect, test } from "vitest";
import { UsageError } from "../support/command-line.ts";
import { targetNames } from "./all-targets.ts";
import { readOptions } from "./options.ts";

test("a seed and a number of cases are one round of all targets, or of those that are named", () => {
  expect(readOptions(["--seed", "7", "--cases", "50", "--seconds", "3"])).toEqual({
    do: "run",
    rounds: [{ targets: [...targetNames], seed: 7, cases: 50, seconds: 3 }],
  });
  expect(readOptions(["--target", "tokens,gateway", "--seed", "7"])).toMatchObject({
    rounds: [{ targets: ["tokens", "gateway"], seconds: Number.POSITIVE_INFINITY }],
  });
});

test("a short run has a seed that is always the same, and then another one", () => {
  const options = readOptions(["--short", "--seed", "9"]);
  expect(options).toMatchObject({ do: "run", rounds: [{ seed: 1 }, { seed: 9 }] });
});

test.each([
  ["a target that there is not", ["--target", "none"]],
  ["no number", ["--cases", "many"]],
  ["a case without its seed", ["--target", "tokens", "--case", "5"]],
  ["a case of several targets", ["--target", "tokens,gateway", "--seed", "1", "--case", "5"]],
  ["an unknown option", ["--what"]],
])("%s is a wrong command line", (_what, argv) => {
  expect(() => readOptions(argv)).toThrow(UsageError);
});
