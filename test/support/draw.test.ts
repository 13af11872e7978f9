import { expect, test } from "vitest";
import { UsageError } from "./command-line.ts";
import { drawn, readDraw } from "./draw.ts";

const files = Array.from({ length: 10 }, (_, number) => `test/e2e/file-${number}.test.ts`);
const seeds = Array.from({ length: 40 }, (_, seed) => `${seed}`);

test("a share is drawn, other files with another seed, and each of them sometime", () => {
  const draws = seeds.map((seed) => drawn(files, { oneOf: 3, seed }));
  expect(new Set(draws.map(({ length }) => length))).toEqual(new Set([4]));
  expect(new Set(draws.flat()).size).toBe(files.length);
  expect(drawn(files.slice(0, 1), { oneOf: 9, seed: "1" })).toHaveLength(1);
  expect(drawn(files, { oneOf: 1, seed: "1" })).toHaveLength(files.length);
});

test("the same seed draws the same files, in whatever order they are found", () => {
  const draw = { oneOf: 3, seed: "7" };
  expect(drawn(files.toReversed(), draw)).toEqual(drawn(files, draw));
  expect(drawn(files, draw)).not.toEqual(drawn(files, { ...draw, seed: "8" }));
});

test("nothing is drawn unless it is asked for, and what can't be meant is refused", () => {
  const read = (oneOf: string | undefined, seed: string | undefined) => readDraw(["--one-of", oneOf], ["--seed", seed]);
  expect(read(undefined, undefined)).toBeUndefined();
  expect(read("3", "x")).toEqual({ oneOf: 3, seed: "x" });
  for (const [oneOf, seed, message] of [
    ["0", "x", "--one-of 0: "],
    [undefined, "x", "--one-of : "],
    ["3", undefined, "--seed is missing"],
  ] as const) {
    expect(() => read(oneOf, seed)).toThrow(UsageError);
    expect(() => read(oneOf, seed)).toThrow(message);
  }
});
