import { expect, test } from "vitest";
import { UsageError } from "../support/command-line.ts";
import { allMutations } from "./all-mutations.ts";
import { readOptions } from "./options.ts";
import { selectMutations } from "./select-mutations.ts";

const selectAfter = (answered: string[], ...argv: string[]) => {
  const options = readOptions(argv);
  if (options.do !== "try") throw new Error(`${argv} tries nothing`);
  return selectMutations(options, { answered: new Set(answered), found });
};
/** Every other one. */
const found = new Set(allMutations.filter((_, place) => place % 2 === 0).map(({ name }) => name));
const select = (...argv: string[]) => selectAfter([], ...argv);

test("all are tried, or those of an area, those that are named, or those that are left", () => {
  expect(select()).toEqual(allMutations);
  const [first, last] = [allMutations[0]?.name ?? "", allMutations.at(-1)?.name ?? ""];
  expect(select("--only", `${last},${first}`).map(({ name }) => name)).toEqual([first, last]);
  expect(selectAfter([first], "--left")).toEqual(allMutations.slice(1));
  expect(selectAfter([first], "--only", first)).toHaveLength(1);
  const ofLeases = select("--area", "leases");
  expect(ofLeases.length).toBeGreaterThan(10);
  expect(ofLeases.length).toBeLessThan(allMutations.length);
});

test("a sample is of those that were found, another one with another seed, and the same with the same", () => {
  const sample = (seed: string) => select("--sample", "10", "--seed", seed).map(({ name }) => name);
  expect(sample("1")).toHaveLength(10);
  expect(sample("1")).toEqual(sample("1"));
  expect(sample("1")).not.toEqual(sample("2"));
  expect(new Set(select("--sample", "9999").map(({ name }) => name))).toEqual(found);
});

test.each([
  [["--only", "no-such-mistake"], /no mistake no-such-mistake/],
  [["--area", "moon"], /--area moon: give one of/],
  [["--sample", "0"], /--sample 0/],
  [["--seed", "x"], /--seed x/],
  [["--nonsense"], /nonsense/],
])("%j is refused", (argv, message) => {
  expect(() => select(...argv)).toThrow(UsageError);
  expect(() => select(...argv)).toThrow(message);
});
