/**
 * What a window of the console shows while Redis, the Kubernetes API or the whole service is away: which of them it is,
 * what was known, and afterwards what is.
 */
import type { Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startApi } from "../../../src/cmd/api.ts";
import { newApiKey } from "../../../src/core/api-keys/api-key-secret.ts";
import { ensureOrganizationKey } from "../../../src/core/bootstrap/initial-key.ts";
import { ensureNamespace } from "../../../src/core/bootstrap/system-namespace.ts";
import { readConfig } from "../../../src/core/config/config.ts";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { freePort } from "../../../src/local/free-port.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { axeFindings } from "../../support/axe-findings.ts";
import { type BreakableLink, kubeconfigBehindLink, startBreakableLink } from "../../support/breakable-link.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { type LeaseParts, silent, startLeaseParts } from "../../support/lease-parts.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { fill, press, untilSaid } from "./console-actions.ts";
import { openWindows, textOf, untilText } from "./console-page.ts";

const parts = new AsyncDisposableStack();
const apiKey = newApiKey();
const windows = openWindows();

let kube: Kube;
let leases: LeaseParts;
let viewers: ViewBrowser;
let project: { name: string; projectId: string };
let api: Awaited<ReturnType<typeof startApi>>;
let start: () => Promise<void>;
let links: Record<"redis" | "kubernetes" | "service", BreakableLink>;

beforeAll(async () => {
  const servers = await sharedServers();
  kube = connectKube({ kubeconfigPath: servers.kubeconfigPath });
  parts.defer(() => kube.close());
  leases = parts.use(await startLeaseParts());
  viewers = parts.use(await startViewBrowser());
  const behind = parts.use(await kubeconfigBehindLink(servers.kubeconfigPath));
  const redisUrl = new URL(servers.redisUrl);
  const port = (await freePort("127.0.0.1")) ?? 0;
  links = {
    kubernetes: behind.link,
    redis: await startBreakableLink(Number(redisUrl.port)),
    service: await startBreakableLink(port),
  };
  for (const link of [links.redis, links.service]) parts.defer(() => link.close());
  redisUrl.port = String(links.redis.port);
  project = await testNamespace(kube);
  const config = readConfig({
    REDIS_URL: redisUrl.href,
    BROWSERPOOL_PORT: String(port),
    BROWSERPOOL_STOP_GRACE_SECONDS: "0.1",
    BROWSERPOOL_AUDIT_LOG: "/dev/null",
    BROWSERPOOL_CONSOLE: "loopback",
    BROWSERPOOL_SYSTEM_NAMESPACE: `system-${newId()}`,
    BROWSERPOOL_DEFAULT_PROJECT: project.projectId,
  });
  await ensureNamespace(kube, config.systemNamespace);
  await ensureOrganizationKey({ kube, namespace: config.systemNamespace, key: apiKey, name: "test" });
  start = async () => {
    api = await startApi({ config, kubeconfigPath: behind.path }, silent);
    await eventually("the key is known", () => api.services.apiKeys.authenticate(apiKey) !== undefined);
  };
  await start();
  parts.defer(() => api.stop());
});
afterAll(() => parts.disposeAsync());

const makePool = async (name: string): Promise<{ id: string; uid: string }> => {
  const spec = { size: 1, fillRatePerMinute: 0 } as never;
  const { metadata } = await kube.create(browserPoolKind, { metadata: { namespace: project.name, name }, spec });
  return { id: name, uid: metadata.uid ?? "" };
};

const begin = async (pool: { id: string; uid: string }, name: string): Promise<void> => {
  await leases.addBrowser(pool.uid);
  const request = { timeout_seconds: 600, max_session_seconds: 3600, pool, project: project.projectId, name };
  const taken = await leases.store.take(pool.uid, {
    ...{ session: newId(), channel: "none", request: JSON.stringify(request) },
  });
  expect(taken.kind).toBe("granted");
};

let pool: { id: string; uid: string };
beforeEach(async () => {
  const made = await Promise.all(Array.from({ length: 40 }, (_, index) => makePool(`pool-${index}-${newId()}`)));
  [pool] = made as [typeof pool];
  for (let index = 0; index < 40; index += 1) await begin(pool, `session-${index}`);
});
afterEach(async () => {
  await windows.close();
  const { items } = await kube.list(browserPoolKind, { namespace: project.name });
  for (const { metadata } of items)
    await kube.delete(browserPoolKind, { namespace: project.name, name: metadata.name ?? "" });
});

const open = async (path: string): Promise<Page> => {
  const page = await windows.open(viewers, { url: `http://127.0.0.1:${links.service.port}`, key: apiKey, path });
  await untilText(page, /● Live/, "header");
  return page;
};

/** Scrolls the table, gives the focus to a row, and selects the heading. */
const settle = async (page: Page): Promise<string> => {
  await page.waitForSelector('tr[data-index="10"] a');
  await page.$eval(".table-scroll", (table) =>
    (table as unknown as { scrollTo(x: number, y: number): void }).scrollTo(0, 300),
  );
  await page.focus('tr[data-index="10"] a');
  await page.evaluate("getSelection().selectAllChildren(document.querySelector('main h1'))");
  return placeOf(page);
};

/** Where a person is on the page. */
const placeOf = (page: Page): Promise<string> =>
  page.evaluate(`JSON.stringify([
    document.activeElement.textContent, getSelection().toString(), document.querySelector(".table-scroll").scrollTop,
  ])`) as Promise<string>;

const come = (link: BreakableLink): void => {
  link.thaw();
  link.cut();
};

const untilGone = (page: Page, pattern: RegExp): Promise<true> =>
  eventually(`${pattern} is gone`, async () => !pattern.test(await textOf(page)));

test("without Redis, sessions stay as they were, and what began meanwhile is there afterwards", async () => {
  const page = await open("/sessions");
  await untilText(page, /40 active/);
  const place = await settle(page);
  links.redis.freeze();
  const told = await untilText(page, /Redis does not answer the service: nobody gets a browser/);
  expect(told).toMatch(/What you see of it is as it was \d+ s ago/);
  expect(told, "what was known stays").toMatch(/40 active[\s\S]*session-29/);
  expect(told).not.toContain("Kubernetes");
  expect(await placeOf(page)).toBe(place);
  expect(await axeFindings(page)).toEqual([]);
  await begin(pool, "meanwhile");
  come(links.redis);
  await untilText(page, /41 active\s+Show 1 new/);
  await untilGone(page, /does not answer/);
  expect(await placeOf(page)).toBe(place);
  await press(page, "Show 1 new");
  await page.$eval(".table-scroll", (table) =>
    (table as unknown as { scrollTo(x: number, y: number): void }).scrollTo(0, 0),
  );
  await untilText(page, /meanwhile/);
});

test("without the Kubernetes API, pools stay as they were, and a change says what is away", async () => {
  const page = await open("/pools?sort=name");
  const place = await settle(page);
  links.kubernetes.freeze();
  const told = await untilText(page, /The Kubernetes API does not answer the service: pools, logins/);
  expect(told, "what was known stays").toContain(pool.id);
  expect(told).not.toContain("Redis");
  expect(await placeOf(page)).toBe(place);
  expect(await axeFindings(page)).toEqual([]);
  const vaults = await open("/vaults");
  await press(vaults, "Make a vault");
  await fill(vaults, "Name", "team");
  await press(vaults, "Make the vault");
  await untilSaid(vaults, "the Kubernetes API does not answer now. Try again in a moment.");
  const { id } = await makePool(`a-meanwhile-${newId()}`);
  await kube.delete(browserPoolKind, { namespace: project.name, name: pool.id });
  come(links.kubernetes);
  await untilGone(page, /does not answer/);
  await eventually("the pool is gone", async () => {
    await page.locator("input[type=search]").fill(pool.id);
    return (await textOf(page)).includes("No pool has this in its name");
  });
  await page.locator("input[type=search]").fill(id);
  await untilText(page, new RegExp(id));
}, 120_000);

test("a service that starts anew finds its windows where they were, with all that came meanwhile", async () => {
  const page = await open("/sessions");
  await untilText(page, /40 active/);
  const place = await settle(page);
  await api.stop();
  const told = await untilText(page, /The connection to the service is lost, and is tried again/);
  expect(told).toMatch(/What you see is as it was [\s\S]*session-29/);
  expect(await placeOf(page)).toBe(place);
  await begin(pool, "meanwhile");
  await start();
  await untilText(page, /41 active\s+Show 1 new/);
  await untilGone(page, /is lost/);
  expect(await placeOf(page)).toBe(place);
}, 120_000);

test("a service that is slow is said to be slow, and what it answers then is shown", async () => {
  const page = await open("/pools");
  await page.waitForSelector("nav a[href*=profiles]");
  links.service.freeze();
  await press(page, "Profiles");
  await untilText(page, /Reading … The service takes long to answer\./);
  expect(await axeFindings(page)).toEqual([]);
  links.service.thaw();
  await untilText(page, /There is no profile yet/);
});
