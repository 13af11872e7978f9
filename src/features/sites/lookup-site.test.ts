import { expect, test } from "vitest";
import { readConfig } from "../../core/config/config.ts";
import { gatewayOf } from "../proxies/rules/proxy-provider.ts";
import { siteConfigKind } from "./configs/site-config.ts";
import { lookupSite } from "./lookup-site.ts";
import { packSites, shardOf, siteKey, writeSite } from "./pack-sites.ts";
import { createSiteIndex } from "./site-index.ts";
import type { Recipe } from "./site-recipe.ts";

const browser: Recipe["browser"] = {
  stealth: false,
  headless: true,
  gpu: false,
  viewport: { width: 1920, height: 1080 },
};

const observed = { inconclusive: 0, runCount: 1, lastObservedAt: "2026-01-01T00:00:00Z" };

const indexOf = (accessed: number, blocked: number) => {
  const index = createSiteIndex();
  index.putConfig({
    kind: siteConfigKind.kind,
    metadata: { name: "shop", uid: "1", resourceVersion: "1" },
    spec: {
      scope: "domain",
      target: "shop.example",
      configurations: [
        {
          browser,
          proxy: { type: "residential", residential: { country: "DE" } },
          evidence: { accessed, blocked, ...observed },
        },
      ],
    },
  });
  return index;
};

const residential = gatewayOf({ host: "proxy.example", port: 3128, protocol: "http", username: "{country}" }, {});
const proxyProvider = { residential };

const typeOf = (settings: Record<string, string>, countries?: string[]): string | null => {
  const deps = {
    sites: indexOf(3, 2),
    config: readConfig({ BROWSERPOOL_BROWSER_FEATURES: "network", ...settings }),
    proxyProvider,
  };
  const request = { url: "https://a.shop.example/", ...(countries && { allowed_proxy_countries: countries }) };
  const { recommendation } = lookupSite(request, deps);
  return recommendation?.type === "no_recommendation" ? recommendation.code : (recommendation?.type ?? null);
};

const lower = { BROWSERPOOL_REGISTRY_MIN_SUCCESS_RATE: "0.6" };

// LOOKUP-20
test.each<[Record<string, string>, string | null]>([
  [{}, null],
  [lower, "recommendation"],
  [{ ...lower, BROWSERPOOL_REGISTRY_MIN_TRIALS: "6" }, null],
  [{ ...lower, BROWSERPOOL_REGISTRY_MIN_TRIALS: "5" }, "recommendation"],
])("with the settings %j the answer is %s", (settings, type) => expect(typeOf(settings)).toBe(type));

// LOOKUP-5
test.each<[string, string[] | undefined, string]>([
  ["", undefined, "recommendation"],
  ["US,FR", undefined, "proxy_restricted"],
  ["US,DE", undefined, "recommendation"],
  ["US", ["de"], "recommendation"],
  ["DE", ["US"], "proxy_restricted"],
])("with the installation's countries %j and a request's %j the answer is %s", (own, given, type) =>
  expect(typeOf({ ...lower, BROWSERPOOL_REGISTRY_PROXY_COUNTRIES: own }, given)).toBe(type),
);

// LOOKUP-23
test.each<["trial" | "session" | "given", number, string | null]>([
  ["trial", 2, null],
  ["trial", 0, "recommendation"],
  // What sessions met decides nothing, and people may say for a page what its trials did not see.
  ["session", 2, "recommendation"],
  ["given", 2, "recommendation"],
])("a page with evidence by %s of %i refusals is answered with %s of its domain", (source, blocked, type) => {
  const index = indexOf(9, 0);
  const target = "https://a.shop.example/";
  const proxy = { type: "residential" as const, residential: { country: "DE" } };
  const evidence = [{ origin: "here", source, accessed: 0, blocked, ...observed, inconclusive: 3 }];
  const line = writeSite({ scope: "exact", target, configurations: [{ browser, proxy, evidence }] });
  index.putShard(shardOf("shop.example"), packSites(new Map([[siteKey("exact", target), line]])).packed);
  const { recommendation } = lookupSite(
    { url: target },
    { sites: index, config: readConfig({ BROWSERPOOL_BROWSER_FEATURES: "network" }), proxyProvider },
  );
  expect(recommendation?.type ?? null).toBe(type);
});

test.each(["us", "USA", "US;DE"])("the countries %j end the start", (text) => {
  expect(() => readConfig({ BROWSERPOOL_REGISTRY_PROXY_COUNTRIES: text })).toThrow(
    "BROWSERPOOL_REGISTRY_PROXY_COUNTRIES",
  );
});
