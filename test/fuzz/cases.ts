/**
 * Which input a case has: its seed and its number alone say that. Cases come in batches, each with a seed of its own.
 */
import fc from "fast-check";
import { seededRandom } from "../support/seeded-random.ts";

/** Cases of one batch. The first ones of a batch are small, as fast-check makes them. */
export const batchCases = 500;

/** The seed of a batch, for fast-check: a whole number of 32 bits. */
export const batchSeed = (seed: number, batch: number): number =>
  Math.floor(seededRandom(Math.imul(seed, 0x9e3779b1) + batch)() * 2 ** 32) | 0;

/** The input of a case. */
export const inputOf = <Input>(inputs: fc.Arbitrary<Input>, seed: number, number: number): Input => {
  const at = number % batchCases;
  const parameters = { seed: batchSeed(seed, Math.floor(number / batchCases)), numRuns: at + 1 };
  return fc.sample(inputs, parameters)[at] as Input;
};
