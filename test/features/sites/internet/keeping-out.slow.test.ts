/**
 * Sites that let nobody in, or of which no trial can tell; and one with another wall on each path. Prints what was
 * found.
 */
import { expect, test } from "vitest";
import {
  analyzedSites,
  direct,
  listedEvidence,
  reached,
  refused,
  type Seen,
  type SiteCase,
  siteTestMs,
  unclear,
} from "../support/site-case.ts";

const sites = analyzedSites(() => ({ settings: { browsers: 3, visitSeconds: 20 } }));

/** A country in which no proxy is: only direct ways are tried. */
const nowhere = ["FR"];

const nobody = (site: string, reason: string): SiteCase => ({
  site,
  countries: nowhere,
  outcome: "no_working_configuration",
  recommended: null,
  trials: refused(direct, reason),
  guidance: ["Bot protection"],
});

const nothingToTell = (site: string, reason: string, path = "/"): SiteCase => ({
  site,
  path,
  countries: nowhere,
  outcome: "target_not_evaluable",
  recommended: null,
  trials: unclear(direct, reason),
});

const cases: SiteCase[] = [
  nobody("hard-wall", "challenge"),
  nothingToTell("leads-inside", "address_refused"),
  nothingToTell("polite-shop", "robots_disallowed", "/private"),
];

// LOOKUP-23, LOOKUP-53, LOOKUP-75
test.concurrent.each(cases)("$site", (wanted) => sites.expectFound(wanted), siteTestMs);

// LOOKUP-17, LOOKUP-18
test.concurrent(
  "a site with another wall on each path",
  async () => {
    const host = "by-path.example";
    const at = async (path: string, more: Partial<SiteCase>): Promise<Seen> => {
      const wanted = { ...nobody("by-path", "denied"), path, ...more };
      return sites.analyze(wanted);
    };
    const look = async (path: string): Promise<[string?, string?]> => {
      const { recommendation: found } = await sites.analyses().lookup(sites.analyses().internet.url("by-path", path));
      return found?.type === "recommendation"
        ? [found.match_scope, found.browser.stealth ? "headless stealth" : "headless"]
        : [];
    };
    await at("/", { outcome: "recommendation", trials: reached("headless direct") });
    expect([await look("/"), await look("/denied")]).toEqual([
      ["exact", "headless"],
      ["host", "headless"],
    ]);

    // What the host is known for is answered until the analysis of the page knows better.
    const members = await at("/members", { outcome: "recommendation" });
    expect(members.before.recommendation).toMatchObject({ match_scope: "host" });
    for (const { recommendation } of members.during)
      expect([members.before.recommendation, members.after.recommendation]).toContainEqual(recommendation);
    // Of the host, three trials of five reach it without stealth: not enough. With stealth all three do.
    expect([await look("/"), await look("/members"), await look("/else")]).toEqual([
      ["exact", "headless"],
      ["exact", "headless stealth"],
      ["host", "headless stealth"],
    ]);

    const denied = await at("/denied", {});
    expect(denied.done.outcome).toBe("no_working_configuration");
    // Now every configuration is refused somewhere on the host too often to be told of other pages. What the pages have
    // stays.
    expect([await look("/"), await look("/members"), await look("/denied"), await look("/else")]).toEqual([
      ["exact", "headless"],
      ["exact", "headless stealth"],
      [],
      [],
    ]);
    const known = {
      "headless direct": { accessed: 3, blocked: 4, inconclusive: 0 },
      "headless stealth direct": { accessed: 3, blocked: 2, inconclusive: 0 },
      "headful direct": { accessed: 0, blocked: 2, inconclusive: 0 },
      "headful stealth direct": { accessed: 0, blocked: 2, inconclusive: 0 },
    };
    expect(await listedEvidence(sites.analyses(), "host", host)).toEqual(known);
    expect(await listedEvidence(sites.analyses(), "domain", host)).toEqual(known);
  },
  siteTestMs,
);
