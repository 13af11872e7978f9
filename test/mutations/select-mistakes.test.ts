import { expect, test } from "vitest";
import { UsageError } from "../support/command-line.ts";
import { keptMistakes } from "./kept-mistakes.ts";
import { readOptions } from "./options.ts";
import { selectMistakes } from "./select-mistakes.ts";

const selectAfter = (answered: string[], ...argv: string[]) => {
  const options = readOptions(argv);
  if (options.do !== "kept") throw new Error(`${argv} tries nothing that is kept`);
  return selectMistakes(options, ({ name }) => answered.includes(name));
};
const select = (...argv: string[]) => selectAfter([], ...argv);

test("all are tried, or those of an area, those that are named, or those that are left", () => {
  expect(select()).toEqual(keptMistakes);
  const [first, last] = [keptMistakes[0]?.name ?? "", keptMistakes.at(-1)?.name ?? ""];
  expect(select("--only", `${last},${first}`).map(({ name }) => name)).toEqual([first, last]);
  expect(selectAfter([first], "--left")).toEqual(keptMistakes.slice(1));
  expect(selectAfter([first], "--only", first)).toHaveLength(1);
  const ofLeases = select("--area", "leases");
  expect(ofLeases.length).toBeGreaterThan(10);
  expect(ofLeases.length).toBeLessThan(keptMistakes.length);
});

test("a sample is of those that a test notices, another one with another seed, and the same with the same", () => {
  const sample = (seed: string) => select("--sample", "10", "--seed", seed).map(({ name }) => name);
  expect(sample("1")).toHaveLength(10);
  expect(sample("1")).toEqual(sample("1"));
  expect(sample("1")).not.toEqual(sample("2"));
  expect(select("--sample", "9999")).toEqual(keptMistakes.filter(({ mayStay }) => mayStay === undefined));
});

test("fresh mistakes are drawn by their own options", () => {
  const options = readOptions(["--fresh", "20", "--seed", "3", "--budget", "0", "--area", "http"]);
  expect(options).toMatchObject({ do: "fresh", count: 20, seed: 3, budgetSeconds: 0, area: ["http"], list: false });
  expect(readOptions(["--against", "run.json"])).toMatchObject({ do: "against", against: "run.json" });
});

test.each([
  [["--only", "no-such-mistake"], /no mistake no-such-mistake/],
  [["--area", "moon"], /--area moon: give one of/],
  [["--sample", "0"], /--sample 0/],
  [["--seed", "x"], /--seed x/],
  [["--of", "a"], /--of is for/],
  [["--nonsense"], /nonsense/],
])("%j is refused", (argv, message) => {
  expect(() => select(...argv)).toThrow(UsageError);
  expect(() => select(...argv)).toThrow(message);
});
