import { describe, expect, test } from "vitest";
import type { Evidence, ManagedProxy, Recipe, SiteScope } from "../site-recipe.ts";
import { type Known, type RecommendRules, recommend } from "./recommend.ts";
import type { Target } from "./target.ts";

const target: Target = { normalized: "https://www.shop.example/a", host: "www.shop.example", domain: "shop.example" };
const rules: RecommendRules = { minTrials: 3, minRate: 0.7, countries: undefined };

const known = (
  accessed: number,
  blocked: number,
  proxy?: ManagedProxy,
  browser: Partial<Recipe["browser"]> = {},
): Known => ({
  recipe: {
    browser: { stealth: false, headless: true, gpu: false, viewport: { width: 1920, height: 1080 }, ...browser },
    ...(proxy && { proxy }),
  },
  decisive: { accessed, blocked },
  isTried: false,
  evidence: {
    accessed,
    blocked,
    inconclusive: 5,
    runCount: 1,
    lastObservedAt: "2020-01-01T00:00:00Z",
  } satisfies Evidence,
});

const of = (sites: Partial<Record<SiteScope, Known[]>>, changes: Partial<RecommendRules> = {}) =>
  recommend(
    target,
    (scope, value) => {
      expect(value).toBe({ exact: target.normalized, host: target.host, domain: target.domain }[scope]);
      return sites[scope] && { known: sites[scope], guidance: undefined };
    },
    { ...rules, ...changes },
  );

const us: ManagedProxy = { type: "residential", residential: { country: "US" } };
const de: ManagedProxy = { type: "residential", residential: { country: "DE" } };

describe("the scope of a recommendation", () => {
  // LOOKUP-17, LOOKUP-18
  test.each<[string, Partial<Record<SiteScope, Known[]>>, SiteScope | undefined]>([
    ["exact before all", { exact: [known(3, 0)], host: [known(9, 0)], domain: [known(9, 0)] }, "exact"],
    ["host where nothing is known of the target", { host: [known(3, 0)], domain: [known(9, 0)] }, "host"],
    ["host where the target's is not eligible", { exact: [known(2, 0)], host: [known(3, 0)] }, "host"],
    ["domain at last", { exact: [known(0, 9)], host: [], domain: [known(3, 0)] }, "domain"],
    ["none", { exact: [known(0, 9)] }, undefined],
    ["none of nothing", {}, undefined],
  ])("is %s", (_name, sites, scope) => {
    const { working } = of(sites);
    expect(working[0]?.scope).toBe(scope);
    expect(working.every((each) => each.scope === scope)).toBe(true);
  });
});

// LOOKUP-23
describe("what a page's own trials refused", () => {
  const refused: Known = { ...known(1, 2), isTried: true };
  const reached: Known = { ...known(3, 0), isTried: true };
  const scopes = (sites: Partial<Record<SiteScope, Known[]>>) =>
    of(sites).working.map(({ scope, recipe }) => [scope, recipe.proxy?.type ?? "direct"]);

  test("is not recommended for it, whatever its host and domain are known for", () =>
    expect(scopes({ exact: [refused], host: [known(9, 0)], domain: [known(9, 0)] })).toEqual([]));
  test("leaves what was not tried there", () =>
    expect(scopes({ exact: [refused], host: [known(9, 0), known(3, 0, us)] })).toEqual([["host", "residential"]]));
  test("says nothing of others: those of a host leave its domain's knowledge as it is", () =>
    expect(scopes({ host: [refused], domain: [known(9, 0)] })).toEqual([["domain", "direct"]]));
  test("is not what a few trials left open", () =>
    expect(scopes({ exact: [{ ...known(2, 0), isTried: true }], host: [known(9, 0)] })).toEqual([["host", "direct"]]));
  test("is not what they reached", () => expect(scopes({ exact: [reached] })).toEqual([["exact", "direct"]]));
});

describe("a configuration is eligible", () => {
  // LOOKUP-19, LOOKUP-20, LOOKUP-36
  test.each<[number, number, Partial<RecommendRules>, boolean]>([
    [3, 0, {}, true],
    [2, 0, {}, false],
    [7, 3, {}, true],
    [69, 31, {}, false],
    [2, 1, {}, false],
    [1, 0, { minTrials: 1 }, true],
    [2, 1, { minRate: 0.6 }, true],
    [9, 0, { minTrials: 10 }, false],
  ])("with %i accessed and %i blocked under %j: %s", (accessed, blocked, changes, is) => {
    expect(of({ exact: [known(accessed, blocked)] }, changes).working).toHaveLength(Number(is));
  });
});

// LOOKUP-24, LOOKUP-25
test("configurations are ordered by rate, then by sample, then by cost of the proxy, then of the browser", () => {
  const ordered = [
    known(30, 0),
    known(10, 0),
    known(10, 0, undefined, { stealth: true }),
    known(10, 0, undefined, { headless: false }),
    known(10, 0, { type: "datacenter" }),
    known(10, 0, { type: "isp" }),
    known(10, 0, de),
    known(10, 0, { type: "mobile" }),
    known(99, 1),
  ];
  const rotated = [...ordered.slice(4), ...ordered.slice(0, 4)].reverse();
  expect(of({ exact: rotated }).working.map(({ recipe }) => recipe)).toEqual(ordered.map(({ recipe }) => recipe));
});

describe("countries of proxies", () => {
  // LOOKUP-21, LOOKUP-22
  test.each<[string, Known[], string[] | undefined, { working: number; restricted: string[] }]>([
    ["any, when none are given", [known(3, 0, de)], undefined, { working: 1, restricted: [] }],
    ["an allowed one", [known(3, 0, de)], ["FR", "DE"], { working: 1, restricted: [] }],
    ["another one", [known(3, 0, de), known(5, 0, us)], ["FR"], { working: 0, restricted: ["DE", "US"] }],
    ["another one, which is no way here", [known(1, 2, de)], ["FR"], { working: 0, restricted: [] }],
    [
      "a type's own",
      [known(3, 0, { type: "isp" }), known(3, 0, { type: "datacenter" })],
      ["US"],
      { working: 2, restricted: [] },
    ],
    ["a type's own, left out", [known(3, 0, { type: "isp" })], ["DE"], { working: 0, restricted: ["US"] }],
    [
      "none: it may be anywhere",
      [known(3, 0, { type: "mobile" })],
      ["US"],
      { working: 0, restricted: ["any country"] },
    ],
    ["no matter where no proxy is needed", [known(3, 0)], ["DE"], { working: 1, restricted: [] }],
  ])("%s", (_name, exact, countries, expected) => {
    const outcome = of({ exact }, { countries });
    expect({ ...outcome, working: outcome.working.length }).toMatchObject(expected);
  });

  test("a broader scope that is allowed comes before a refusal", () => {
    const outcome = of({ exact: [known(9, 0, us)], domain: [known(3, 0)] }, { countries: ["DE"] });
    expect(outcome.working.map(({ scope }) => scope)).toEqual(["domain"]);
  });
});

// LOOKUP-46
test("guidance comes from the narrowest scope that has some, and without any configuration", () => {
  const guidance: Partial<Record<SiteScope, string>> = { host: "of the host", domain: "of the domain" };
  const outcome = recommend(target, (scope) => ({ known: [], guidance: guidance[scope] }), rules);
  expect(outcome).toEqual({ working: [], restricted: [], guidance: "of the host" });
});
