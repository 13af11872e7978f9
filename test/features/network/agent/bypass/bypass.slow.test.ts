/**
 * Ways around the network rules of a browser, each tried by its holder in a real Chromium behind the agent's wall, and
 * where nothing forbids it, so that each check can fail. What counts is what arrives at the forbidden servers.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgents } from "../../../../support/agent-process.ts";
import { eventually } from "../../../../support/eventually.ts";
import { type HitServers, startHitServers } from "../../../../support/wall/hit-servers.ts";
import { ownAddress } from "../../../../support/wall/machine.ts";
import { type PagesSite, startPagesSite } from "../../../../support/wall/pages-site.ts";
import { addressRows } from "./address-rows.ts";
import type { Attempt, Row } from "./attempt.ts";
import { cdpRows } from "./cdp-rows.ts";
import { pageRows } from "./page-rows.ts";

const rows = [...addressRows, ...pageRows, ...cdpRows];
const idOf = (row: Row): string => `n${rows.indexOf(row)}`;

/** An attempt has ended, or goes on in the background. */
const attemptMs = 5000;
/**
 * The longest that an attempt keeps the others waiting: until its page opens, and until something arrives where nothing
 * forbids it.
 */
const mostMs = 60_000;
/** Attempts at the same time. */
const atOnce = 8;
/** What an attempt has set off in the background has ended. */
const settleMs = 400;

const agents = createTestAgents();
let site: PagesSite;
let forbidden: HitServers;

type Where = "rules" | "open" | "plain";

const setups = (): Record<Where, Parameters<typeof agents.start>[1]> => {
  // Service workers and WebTransport are for secure origins.
  const policy = { OverrideSecurityRestrictionsOnInsecureOrigin: [new URL(site.url).origin] };
  return {
    rules: { setup: { policy, network: { allowed_hosts: [site.host] } } },
    open: { setup: { policy, network: {} } },
    plain: { setup: { policy } },
  };
};

/** Where all attempts of a browser run, and how long each is waited for. */
type Place = { browser: Browser; folder: string; wait(id: string): Promise<unknown> };

const attempt = async (row: Row, { browser, folder, wait }: Place): Promise<void> => {
  const page = await browser.newPage();
  await page.goto(site.url);
  const id = idOf(row);
  const host = row.host ?? ownAddress;
  const made: Attempt = {
    id,
    browser,
    page,
    cdp: await page.createCDPSession(),
    site,
    folder,
    url: (extension) => `http://${host}:${forbidden.port}/${id}${extension ? `.${extension}` : ""}`,
    port: forbidden.port,
    ...(await forbidden.portsOf(id)),
  };
  await Promise.race([row.run(made).catch(() => undefined), sleep(attemptMs)]);
  await wait(id);
  // A page whose script blocks does not close in time.
  void page.close().catch(() => undefined);
};

/** What has arrived, by the attempt. */
const tryAll = async (where: Where, chosen: Row[], wait: Place["wait"]): Promise<Map<Row, number>> => {
  const agent = await agents.start({}, setups()[where]);
  await agent.bind("s", 1);
  const browser = await agent.connect("s");
  const folder = await mkdtemp(join(tmpdir(), "wall-files-"));
  const left = [...chosen];
  const tryRest = async (): Promise<void> => {
    for (let row = left.shift(); row; row = left.shift())
      await Promise.race([attempt(row, { browser, folder, wait }).catch(() => undefined), sleep(mostMs)]);
  };
  await Promise.all(Array.from({ length: atOnce }, tryRest));
  await sleep(settleMs);
  const arrived = new Map(chosen.map((row) => [row, forbidden.hits(idOf(row))]));
  await agents[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
  return arrived;
};

const whenHit = (id: string): Promise<unknown> =>
  eventually("a hit", () => forbidden.hits(id) > 0).catch(() => undefined);

beforeAll(async () => {
  site = await startPagesSite(ownAddress);
  forbidden = await startHitServers("::");
});
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await forbidden[Symbol.asyncDispose]();
});

// NETWORK-6, NETWORK-10, NETWORK-11
describe.each(["rules", "open"] as const)("behind a wall (%s), nothing arrives by", (behind) => {
  const chosen = rows.filter((row) => row.behind === behind);
  let arrived: Map<Row, number>;
  const without = new Map<Row, number>();

  beforeAll(async () => {
    forbidden.forget();
    arrived = await tryAll(behind, chosen, () => sleep(settleMs));
    for (const control of ["open", "plain"] as const) {
      forbidden.forget();
      const there = chosen.filter((row) => row.control === control);
      if (there.length === 0) continue;
      for (const [row, hits] of await tryAll(control, there, whenHit)) without.set(row, hits);
    }
  }, 400_000);

  test.each(chosen.map((row) => [row.what, row] as const))("%s", (_, row) => {
    expect(arrived.get(row), "behind the wall").toBe(0);
    expect(without.get(row), `without what forbids it (${row.control})`).toBeGreaterThan(0);
  });
});
