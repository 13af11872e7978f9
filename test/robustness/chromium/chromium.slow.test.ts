import { expect, test } from "vitest";
import { run } from "./chromium.ts";

test("holders of real browsers find nothing of the last one, also when browsers and agents die", async () => {
  const { signal } = new AbortController();
  const { violations, ...counts } = await run({ handOvers: 20, crashes: 6, seed: 1, signal });
  expect(violations).toEqual([]);
  expect(counts.handOvers).toBeGreaterThanOrEqual(20);
  expect(counts.reused).toBeGreaterThan(0);
  expect(counts.destroyed).toBeGreaterThan(0);
  // A kill that comes when its victim has just ended by itself is not made.
  const kinds = Object.keys(counts.crashes);
  expect(kinds.length).toBeGreaterThanOrEqual(4);
  expect(kinds).toEqual(expect.arrayContaining(["held agent", "held chromium", "idle agent", "idle chromium"]));
}, 240_000);
