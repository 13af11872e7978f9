import { expect, test } from "vitest";
import { allFaults, faultNames, faultsWith } from "./faults/all-faults.ts";
import { randomOf } from "./random.ts";
import { type PlannedFault, planHistory } from "./schedule.ts";
import { shortTier } from "./short-tier.ts";
import { redisKinds } from "./topology/redis-host.ts";

const plan = (seed: number, faults = faultNames) => planHistory(randomOf(seed), { loadMs: 60_000, faults });

const overlap = (a: PlannedFault, b: PlannedFault): boolean =>
  a.atMs <= b.atMs + b.lengthMs && b.atMs <= a.atMs + a.lengthMs;

test("the same seed gives the same plan, another one another", () => {
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
});

test("at most three faults act at a time, and never two of one part", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const { faults } = plan(seed);
    for (const fault of faults) {
      const others = faults.filter((other) => other !== fault && overlap(fault, other));
      expect(others.length).toBeLessThan(3);
      const parts = new Set<string>(allFaults[fault.fault].parts);
      for (const other of others) for (const part of allFaults[other.fault].parts) expect(parts).not.toContain(part);
    }
  }
});

test("every kind comes up before one comes up again", () => {
  const kinds = ["redis-kill", "api-kill", "watch-drop", "pool-flush"] as const;
  const names = plan(3, [...kinds]).faults.map(({ fault }) => fault);
  expect(names.length).toBeGreaterThan(kinds.length);
  expect(new Set(names.slice(0, 3)).size).toBe(3);
  for (const kind of kinds) expect(names).toContain(kind);
});

test("the short tier plans every kind of fault in its fixed histories", () => {
  const faults = faultsWith("single");
  const planned = shortTier(faults)
    .filter(({ isFixed }) => isFixed)
    .flatMap(({ seed, ...options }) => planHistory(randomOf(seed).fork("plan"), options).faults);
  expect(new Set(planned.map(({ fault }) => fault))).toEqual(new Set(faults));
});

test("every kind of fault can be caused with some kind of Redis, and the short tier has those of replicas", () => {
  expect(new Set(redisKinds.flatMap(faultsWith))).toEqual(new Set(faultNames));
  const [last] = shortTier(faultNames).slice(-1);
  expect(faultsWith(last?.redis ?? "single")).toEqual(expect.arrayContaining([...(last?.faults ?? [])]));
  expect(last?.faults).toContain("redis-master-freeze");
});
