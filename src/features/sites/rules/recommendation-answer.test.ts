import { describe, expect, test } from "vitest";
import { proxyTypes } from "../../proxies/proxy.ts";
import { createProxy } from "../../proxies/rules/proxy-create.ts";
import { type Evidence, type ManagedProxy, managedProxyTypes, type Recipe } from "../site-recipe.ts";
import { LookupAnswer, NoRecommendation, noRecommendationCodes } from "../site-wire.ts";
import { evidenceAnswer, lookupAnswer, proxyRecipe } from "./recommendation-answer.ts";

const target = { normalized: "https://www.shop.example/a", host: "www.shop.example", domain: "shop.example" };
const evidence: Evidence = {
  accessed: 2,
  blocked: 1,
  inconclusive: 4,
  runCount: 2,
  lastObservedAt: "2026-01-02T00:00:00Z",
  lastSupportedAt: "2026-01-01T00:00:00Z",
};
const recipe: Recipe = {
  browser: { stealth: true, headless: false, gpu: false, viewport: { width: 1280, height: 800, refreshRate: 60 } },
};

// LOOKUP-31, LOOKUP-32, LOOKUP-33, LOOKUP-34, LOOKUP-35
test("evidence has all counts, and a rate of the judged trials alone", () => {
  expect(evidenceAnswer(evidence)).toEqual({
    success_rate: 0.6667,
    sample_size: 3,
    accessed: 2,
    blocked: 1,
    inconclusive: 4,
    run_count: 2,
    last_observed_at: "2026-01-02T00:00:00Z",
    last_supported_at: "2026-01-01T00:00:00Z",
  });
  const { lastSupportedAt: _, ...never } = evidence;
  expect(evidenceAnswer(never)).not.toHaveProperty("last_supported_at");
  expect(evidenceAnswer({ ...evidence, accessed: 0, blocked: 0 }).success_rate).toBe(0);
});

// LOOKUP-26, LOOKUP-29, LOOKUP-30
test("a recommendation is the first working configuration, in the words of the API", () => {
  const working = [{ recipe, evidence, scope: "exact" as const, matched: target.normalized }];
  const answer = lookupAnswer(target, { working, restricted: [], guidance: "Scroll." });
  expect(LookupAnswer.parse(answer)).toEqual(answer);
  expect(answer.recommendation).toEqual({
    type: "recommendation",
    browser: {
      stealth: true,
      headless: false,
      gpu: false,
      viewport: { width: 1280, height: 800, refresh_rate: 60 },
    },
    proxy: { mode: "direct" },
    match_scope: "exact",
    matched_target: "https://www.shop.example/a",
    evidence: evidenceAnswer(evidence),
  });
});

// LOOKUP-27, LOOKUP-28
test("a refusal names the countries, and has no other field", () => {
  const { recommendation } = lookupAnswer(target, { working: [], restricted: ["DE", "US"], guidance: undefined });
  expect(NoRecommendation.parse(recommendation)).toEqual({
    type: "no_recommendation",
    code: "proxy_restricted",
    message: "what works here needs a proxy in DE or US, which allowed_proxy_countries leaves out",
  });
  expect(NoRecommendation.safeParse({ ...recommendation, more: 1 }).success).toBe(false);
  expect(noRecommendationCodes).toEqual([
    "proxy_restricted",
    "target_not_evaluable",
    "no_working_configuration",
    "inconclusive",
  ]);
});

describe("a proxy recipe", () => {
  // LOOKUP-37
  test("without a proxy has its mode alone", () => expect(proxyRecipe(undefined)).toEqual({ mode: "direct" }));

  // LOOKUP-38, LOOKUP-39, LOOKUP-40, LOOKUP-41, LOOKUP-42, LOOKUP-43, LOOKUP-44
  test.each<[ManagedProxy, object]>([
    [
      { type: "isp", isp: { country: "GB" } },
      { type: "isp", config: { country: "GB" } },
    ],
    [{ type: "isp" }, { type: "isp" }],
    [
      { type: "datacenter", datacenter: { country: "FR" } },
      { type: "datacenter", config: { country: "FR" } },
    ],
    [
      {
        type: "residential",
        residential: { country: "US", city: "boston", state: "MA", zip: "02101", asn: "7922", os: "macos" },
      },
      {
        type: "residential",
        config: { country: "US", city: "boston", state: "MA", zip: "02101", asn: "7922", os: "macos" },
      },
    ],
    [
      { type: "mobile", protocol: "http", bypassHosts: ["*.corp.example"], mobile: { country: "US", state: "NY" } },
      {
        type: "mobile",
        protocol: "http",
        bypass_hosts: ["*.corp.example"],
        config: { country: "US", state: "NY" },
      },
    ],
  ])("%j is a request that POST /proxies takes", (proxy, create) => {
    const made = proxyRecipe(proxy);
    expect(made).toEqual({ mode: "managed", create });
    if (made.mode === "managed") expect(createProxy(made.create, "none")).toMatchObject({ ok: true, spec: proxy });
  });

  // LOOKUP-39, LOOKUP-45
  test("is for all types but a project's own", () =>
    expect([...managedProxyTypes, "custom"].sort()).toEqual([...proxyTypes].sort()));
});
