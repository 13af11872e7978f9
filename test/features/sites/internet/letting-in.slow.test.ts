/** Sites that let some browser in: analyses find the cheapest one that gets there. Prints what was found. */
import { expect, test } from "vitest";
import { analyzedSites, direct, reached, refused, type SiteCase, siteTestMs, through } from "../support/site-case.ts";

/** A protection that only this installation knows. */
const rules = {
  version: 1,
  reasons: { company_gate: "The company's own gate refuses automated browsers." },
  notes: { ask_platform: "**Gate**: ask the platform team for an entry." },
  rules: [
    {
      name: "company-gate",
      any: [{ header: { name: "x-gate-decision", value: "^deny$" } }],
      verdict: "blocked",
      reason: "company_gate",
      notes: ["ask_platform"],
    },
  ],
};

const sites = analyzedSites(() => ({ settings: { browsers: 3 }, rules }));

const cases: SiteCase[] = [
  {
    site: "only-germany",
    countries: ["US", "DE"],
    outcome: "recommendation",
    recommended: "headless residential",
    trials: {
      ...refused([...direct, ...through("isp")], "unavailable_in_country"),
      ...reached("headless residential"),
    },
    guidance: ["Country"],
  },
  // A whole page, with 200: only the rule of this installation tells that it is a refusal. It lets the second
  // configuration in.
  {
    site: "own-gate",
    countries: ["FR"],
    outcome: "recommendation",
    recommended: "headless stealth direct",
    trials: { ...refused(["headless direct"], "company_gate"), ...reached("headless stealth direct") },
    guidance: ["Gate"],
  },
];

// LOOKUP-52, LOOKUP-54, LOOKUP-55, LOOKUP-75
test.concurrent.each(cases)("$site", (wanted) => sites.expectFound(wanted), siteTestMs);

// LOOKUP-22, LOOKUP-38
test("what works only by a proxy says which, and whom it is not for", async () => {
  const url = sites.analyses().internet.url("only-germany");
  expect((await sites.analyses().lookup(url)).recommendation).toMatchObject({
    proxy: { mode: "managed", create: { type: "residential", config: { country: "DE" } } },
  });
  expect(await sites.analyses().lookup(url, { allowed_proxy_countries: ["US"] })).toMatchObject({
    recommendation: { type: "no_recommendation", code: "proxy_restricted" },
    working_configurations: [],
  });
});
