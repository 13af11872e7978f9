/**
 * Chance from a seed: the same seed and the same questions in the same order give the same answers. Never for secrets.
 */
import { createHash } from "node:crypto";
import { seededRandom } from "../support/seeded-random.ts";

export type Random = {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number, both ends included. */
  int(min: number, max: number): number;
  chance(probability: number): boolean;
  /** One of `items`, which must not be empty. */
  pick<T>(items: readonly T[]): T;
  /** One of the keys, each as often as its weight says. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key;
  /** In another order. */
  shuffle<T>(items: readonly T[]): T[];
  /** Another source, which does not depend on how much this one was asked. */
  fork(name: string | number): Random;
};

const seedOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32LE(0);

const fromPath = (path: string): Random => {
  const next = seededRandom(seedOf(path));
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  const pick = <T>(items: readonly T[]): T => items[int(0, items.length - 1)] as T;
  return {
    next,
    int,
    pick,
    chance: (probability) => next() < probability,
    weighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let rest = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      const chosen = entries.find(([, weight]) => {
        rest -= weight;
        return rest < 0;
      });
      return (chosen ?? entries[0])?.[0] as keyof typeof weights;
    },
    shuffle(items) {
      const rest = [...items];
      return items.map(() => rest.splice(int(0, rest.length - 1), 1)[0] as (typeof items)[number]);
    },
    fork: (name) => fromPath(`${path}/${name}`),
  };
};

export const randomOf = (seed: number): Random => fromPath(String(seed));
