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

/** A country in which no proxy is: only direct ways are tried. */
const nowhere = ["FR"];

const open = (site: string, more: Partial<SiteCase> = {}): SiteCase => ({
  site,
  countries: nowhere,
  outcome: "recommendation",
  recommended: "headless direct",
  trials: reached("headless direct"),
  ...more,
});

/** Refuses the first configuration, and lets the second one in. */
const needsStealth = (site: string, reason: string, guidance: string[]): SiteCase =>
  open(site, {
    recommended: "headless stealth direct",
    trials: { ...refused(["headless direct"], reason), ...reached("headless stealth direct") },
    guidance,
  });

const cases: SiteCase[] = [
  // The longest ones first.
  open("only-germany", {
    countries: ["US", "DE"],
    recommended: "headless residential",
    trials: {
      ...refused([...direct, ...through("isp")], "unavailable_in_country"),
      ...reached("headless residential"),
    },
    guidance: ["Country"],
  }),
  open("no-data-centres", {
    countries: ["US", "DE"],
    recommended: "headless isp",
    trials: { ...refused(direct, "denied"), ...reached("headless isp") },
    guidance: ["Bot protection"],
  }),
  open("open-shop"),
  // Neither the user agent's name nor a missing header of the headless shell.
  needsStealth("no-headless", "denied", ["Bot protection"]),
  // A whole page, with 200: only the rule of this installation tells that it is a refusal.
  needsStealth("own-gate", "company_gate", ["Gate"]),
  // Its challenge passes by itself after two seconds.
  open("soft-wall"),
  open("consent-first", { guidance: ["Consent"] }),
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
