import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maxOrigins, type SiteLine } from "../site-evidence.ts";
import { maxConfigurations, type Recipe } from "../site-recipe.ts";
import { addRun, mergeSites, type Run, recipeKey, totalOf } from "./site.ts";

const place = { scope: "host", target: "www.shop.example" } as const;

const recipe = (stealth: boolean, width = 1920): Recipe => ({
  browser: { stealth, headless: false, gpu: false, viewport: { width, height: 1080 } },
});

const run = (
  changes: Partial<Run> & { accessed?: number; day?: number; of?: Recipe; supports?: boolean } = {},
): Run => {
  const { accessed = 3, day = 1, of = recipe(true), supports = true, ...rest } = changes;
  const observedAt = `2026-01-${String(day).padStart(2, "0")}T00:00:00Z`;
  return {
    origin: "here",
    source: "trial",
    guidance: undefined,
    results: [{ ...of, accessed, blocked: 1, inconclusive: 2, observedAt, supports }],
    ...rest,
  };
};

const totals = ({ configurations }: SiteLine) => configurations.map(({ evidence }) => totalOf(evidence));

describe("a run", () => {
  test("adds its counts, and the times of the latest", () => {
    const site = addRun(addRun(undefined, place, run({ day: 2 })), place, run({ day: 1, supports: false }));
    expect(site).toMatchObject(place);
    expect(totals(site)).toEqual([
      {
        accessed: 6,
        blocked: 2,
        inconclusive: 4,
        runCount: 2,
        lastObservedAt: "2026-01-02T00:00:00Z",
        lastSupportedAt: "2026-01-02T00:00:00Z",
      },
    ]);
  });

  // LOOKUP-35
  test("that supports no recommendation leaves no time of support", () => {
    expect(totals(addRun(undefined, place, run({ supports: false })))[0]).not.toHaveProperty("lastSupportedAt");
  });

  test("of another source or origin is counted apart", () => {
    const site = [run(), run({ source: "session" }), run({ origin: "there" })].reduce<SiteLine | undefined>(
      (sum, each) => addRun(sum, place, each),
      undefined,
    );
    expect(site?.configurations[0]?.evidence.map(({ origin, source, accessed }) => [origin, source, accessed])).toEqual(
      [
        ["here", "trial", 3],
        ["here", "session", 3],
        ["there", "trial", 3],
      ],
    );
  });

  test("replaces the guidance when it has some", () => {
    const site = addRun(undefined, place, run({ guidance: "a" }));
    expect(addRun(site, place, run()).guidance).toBe("a");
    expect(addRun(site, place, run({ guidance: "b" })).guidance).toBe("b");
  });

  test("keeps no more than a bound of configurations and origins: what was observed last", () => {
    let site: SiteLine | undefined;
    for (let i = 0; i <= maxConfigurations; i++)
      site = addRun(site, place, run({ of: recipe(true, 1000 + i), day: i === 0 ? 1 : 2 }));
    expect(site?.configurations.map(({ browser }) => browser.viewport.width)).not.toContain(1000);
    expect(site?.configurations).toHaveLength(maxConfigurations);
    for (let i = 0; i <= maxOrigins; i++) site = addRun(site, place, run({ origin: `o${i}`, day: i === 0 ? 3 : 4 }));
    const known = site?.configurations.find(({ browser }) => browser.viewport.width === 1920);
    expect(known?.evidence.map(({ origin }) => origin)).not.toContain("o0");
    expect(known?.evidence).toHaveLength(maxOrigins);
  });
});

// LOOKUP-71
test("what people give counts once, though several clusters say it: that with the most trials", () => {
  const site = [
    run({ origin: "a", source: "given", accessed: 5 }),
    run({ origin: "b", source: "given", accessed: 9 }),
    run({ origin: "c", source: "given", accessed: 9 }),
    run({ origin: "a", accessed: 2 }),
  ].reduce<SiteLine | undefined>((sum, each) => addRun(sum, place, each), undefined);
  expect(totalOf(site?.configurations[0]?.evidence ?? [])).toMatchObject({ accessed: 11, blocked: 2, runCount: 2 });
});

test.each<[Recipe["proxy"], Recipe["proxy"]]>([
  [{ type: "isp" }, { type: "isp", isp: { country: "US" } }],
  [{ type: "datacenter" }, { type: "datacenter", datacenter: { country: "US" } }],
  [
    { type: "residential", residential: { country: "US", city: "boston" } },
    { residential: { city: "boston", country: "US" }, type: "residential" },
  ],
])("%j is the same as %j", (a, b) => {
  const { browser } = recipe(false);
  expect(recipeKey({ browser, proxy: a })).toBe(recipeKey({ browser, proxy: b }));
  expect(recipeKey({ browser, proxy: a })).not.toBe(recipeKey({ browser }));
});

const days = fc.integer({ min: 1, max: 28 });
const anyRun = fc
  .record({ origin: fc.constantFrom("a", "b", "c"), accessed: fc.nat(9), day: days, supports: fc.boolean() })
  .chain((fields) => fc.boolean().map((stealth) => run({ ...fields, of: recipe(stealth) })));
const siteOf = (runs: Run[]): SiteLine =>
  runs.reduce<SiteLine>((sum, each) => addRun(sum, place, each), { ...place, configurations: [] });
/** Without its order, which means nothing. */
const sorted = (site: SiteLine): unknown =>
  site.configurations
    .map(({ evidence, ...of }) => ({
      of: recipeKey(of),
      evidence: evidence.toSorted((a, b) => (a.origin < b.origin ? -1 : 1)),
    }))
    .sort((a, b) => (a.of < b.of ? -1 : 1));

test("knowledge that comes twice, or by a detour, counts once; the order does not matter", () => {
  fc.assert(
    fc.property(fc.array(anyRun, { maxLength: 12 }), fc.array(anyRun, { maxLength: 12 }), (before, after) => {
      const old = siteOf(before);
      const now = siteOf([...before, ...after]);
      const other = siteOf(after.map((each) => ({ ...each, origin: "elsewhere" })));
      const merged = mergeSites(now, other);
      expect(sorted(mergeSites(merged, other))).toEqual(sorted(merged));
      expect(sorted(mergeSites(merged, now))).toEqual(sorted(merged));
      expect(sorted(mergeSites(merged, old))).toEqual(sorted(merged));
      expect(sorted(mergeSites(other, now))).toEqual(sorted(merged));
    }),
  );
});
