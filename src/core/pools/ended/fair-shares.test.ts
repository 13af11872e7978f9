import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fairShares, type Holding } from "./fair-shares.ts";

const holding = (pool: string, amount: number, project = "a"): Holding => ({ pool, project, amount });
const shares = (holdings: Holding[], allowed: number) => Object.fromEntries(fairShares(holdings, allowed));

describe("fair shares", () => {
  test("leave everything to everybody while there is room", () => {
    expect(shares([holding("x", 5), holding("y", 6)], 11)).toEqual({ x: 5, y: 6 });
  });

  test("take from the largest pools of the largest project alone", () => {
    const others = [holding("small", 10, "b"), holding("x", 30), holding("y", 500), holding("z", 460)];
    expect(shares(others, 400)).toEqual({ small: 10, x: 30, y: 180, z: 180 });
  });

  test("do not let a project gain by many pools", () => {
    const many = Array.from({ length: 9 }, (_, index) => holding(`p${index}`, 100));
    const { one, ...rest } = shares([...many, holding("one", 400, "b")], 800);
    expect(one).toBe(400);
    expect(Object.values(rest)).toEqual(Array(9).fill(44));
  });

  test("leave nothing where nothing is allowed", () => {
    expect(shares([holding("x", 5), holding("y", 6, "b")], -3)).toEqual({ x: 0, y: 0 });
  });

  const projects = ["a", "b", "c"];
  const some = fc
    .array(fc.record({ project: fc.constantFrom(...projects), amount: fc.nat(1000) }), { maxLength: 12 })
    .map((given) => given.map((one, index) => ({ ...one, pool: `p${index}` })));
  const totals = (holdings: Holding[], kept: Map<string, number>): Map<string, number> =>
    new Map(
      projects.map((project) => [
        project,
        holdings.filter((one) => one.project === project).reduce((sum, { pool }) => sum + (kept.get(pool) ?? 0), 0),
      ]),
    );

  test("keep the bound, and give nobody more than it has", () => {
    fc.assert(
      fc.property(some, fc.nat(8000), (holdings, allowed) => {
        const kept = fairShares(holdings, allowed);
        const sum = [...kept.values()].reduce((total, share) => total + share, 0);
        expect(sum).toBeLessThanOrEqual(allowed);
        for (const { pool, amount } of holdings) expect(kept.get(pool)).toBeLessThanOrEqual(amount);
      }),
    );
  });

  test("take from no project as long as another one keeps more", () => {
    fc.assert(
      fc.property(some, fc.nat(8000), (holdings, allowed) => {
        const kept = fairShares(holdings, allowed);
        const byProject = totals(holdings, kept);
        const mostKept = Math.max(...byProject.values());
        const giving = holdings.filter(({ pool, amount }) => amount - (kept.get(pool) ?? 0) > 1);
        // Rounding down costs each of the pools less than 1.
        for (const { project } of giving) expect(byProject.get(project)).toBeGreaterThanOrEqual(mostKept - 12);
      }),
    );
  });
});
