import { expect, test } from "vitest";
import { UsageError } from "../support/command-line.ts";
import { parseOptions } from "./options.ts";

test("without arguments it is two seeds of 35 s each", () => {
  expect(parseOptions([])).toEqual({ help: false, seed: undefined, seconds: 35, ifPossible: false });
  expect(parseOptions(["--seed", "7", "--seconds", "5", "--if-possible"])).toMatchObject({
    seed: 7,
    seconds: 5,
    ifPossible: true,
  });
});

test.each([["--seed", "x"], ["--seconds", "-1"], ["--other"], ["more"]])("%s %s is refused", (...args) => {
  expect(() => parseOptions(args)).toThrow(UsageError);
});
