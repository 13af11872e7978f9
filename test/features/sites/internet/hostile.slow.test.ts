/** Sites that want to hurt whoever analyzes them, and a proxy that is down. Prints what was found. */

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { test } from "vitest";
import { browserKind } from "../../../../src/core/model/browsers/browser.ts";
import { eventually } from "../../../support/eventually.ts";
import { processesOf } from "../../../support/processes.ts";
import { trialsNamespace } from "../support/analyses-stack.ts";
import { analyzedSites, direct, refused, type SiteCase, siteTestMs, through, unclear } from "../support/site-case.ts";

/** A port at which nobody listens. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "0.0.0.0");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};

// Visits have long enough that nothing here ends by time.
const sites = analyzedSites(async () => ({
  settings: { browsers: 2, visitSeconds: 60, visitMegabytes: 3, robots: "ignore" },
  portOfUs: await freePort(),
}));

const cannotTell = (site: string, reason: string): SiteCase => ({
  site,
  countries: ["FR"],
  outcome: "target_not_evaluable",
  recommended: null,
  trials: unclear(direct, reason),
});

const cases: SiteCase[] = [
  // Its proxy is down, which says nothing about the site: only what was tried directly counts.
  {
    site: "no-data-centres",
    countries: ["US"],
    outcome: "inconclusive",
    recommended: null,
    trials: { ...refused(direct, "denied"), ...unclear(through("isp"), "proxy_failed") },
    guidance: ["Bot protection"],
  },
  cannotTell("gigabyte", "too_large"),
  cannotTell("crashes-tab", "crashed"),
];

// LOOKUP-53, LOOKUP-61, LOOKUP-91
test.concurrent.each(cases)("$site", (wanted) => sites.expectFound(wanted), siteTestMs);

// LOOKUP-76
test("nothing of their browsers is left", async () => {
  const { kube, dataDir } = sites.analyses().stack;
  await eventually("no Browser object is left", async () => {
    const { items } = await kube.list(browserKind, { namespace: trialsNamespace });
    return items.length === 0;
  });
  await eventually("no process of Chromium is left", async () => {
    const running = await processesOf(dataDir);
    return !running.some(({ commandLine }) => /chrom/i.test(commandLine.split(" ")[0] ?? ""));
  });
});
