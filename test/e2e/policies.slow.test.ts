/** What Chrome policies of pools do in their browsers, and which ones no browser gets. */
import puppeteer, { type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { packPolicy } from "../../src/core/policies/policy-parts.ts";
import { configMaps, events } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { visit } from "../support/visit.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const blocked = "net::ERR_BLOCKED_BY_ADMINISTRATOR";

/** The wall answers for these hosts with pages of its own. */
const network = { allowed_hosts: ["site.test", "other.test", "blocked.test"] };

/** Does this with a page of the session. */
const withPage = async <Result>(cdpUrl: string, work: (page: Page) => Promise<Result>): Promise<Result> => {
  const browser = await puppeteer.connect({ browserWSEndpoint: cdpUrl });
  try {
    return await work(await browser.newPage());
  } finally {
    await browser.disconnect();
  }
};

/** What a site keeps as a cookie, and what Chromium's settings have for the home button. */
const seenIn = (cdpUrl: string): Promise<{ cookie: string; home: unknown }> =>
  withPage(cdpUrl, async (page) => {
    await page.goto("http://site.test/");
    const cookie = (await page.evaluate("document.cookie = 'a=b', document.cookie")) as string;
    await page.goto("chrome://settings/");
    const home = await page.evaluate("chrome.settingsPrivate.getPref('homepage').then(({ value }) => value)");
    return { cookie, home };
  });

// POOL-19
describe.each([true, false])("headless: %s", (headless) => {
  test("two browsers obey each its own policy, and so do those after a reset", async () => {
    const { kernel } = stack;
    const policies = [
      { DefaultCookiesSetting: 2, HomepageLocation: "https://one.test/", URLBlocklist: ["blocked.test"] },
      { DefaultCookiesSetting: 4, HomepageLocation: "https://two.test/", URLBlocklist: ["other.test"] },
    ];
    const pools = await Promise.all(
      policies.map((chrome_policy) => filledPool(kernel, { headless, chrome_policy, network })),
    );
    for (const _ of ["at first", "after a reset"]) {
      const sessions = await Promise.all(
        pools.map(({ id }) => kernel.browserPools.acquire(id, { acquire_timeout_seconds: 60 })),
      );
      const [one = "", two = ""] = sessions.map(({ cdp_ws_url }) => cdp_ws_url);
      expect(await seenIn(one)).toEqual({ cookie: "", home: "https://one.test/" });
      expect(await seenIn(two)).toEqual({ cookie: "a=b", home: "https://two.test/" });
      expect(await visit(one, "http://blocked.test/")).toMatchObject({ error: blocked });
      expect(await visit(one, "http://other.test/")).toMatchObject({ text: "the host can't be reached" });
      expect(await visit(two, "http://other.test/")).toMatchObject({ error: blocked });
      expect(await visit(two, "http://blocked.test/")).toMatchObject({ text: "the host can't be reached" });
      for (const [index, { session_id }] of sessions.entries())
        await kernel.browserPools.release(pools[index]?.id ?? "", { session_id, reuse: true });
    }
    for (const { id } of pools) await kernel.browserPools.delete(id);
  });
});

// POOL-19, LIMIT-6
test("a policy of 5 MiB holds whole", async () => {
  const { kernel } = stack;
  const entry = (text: string) => ({ name: text, url: "https://a.test/" });
  const policyOf = (text: string) => ({
    ManagedBookmarks: [...Array.from({ length: 5000 }, () => entry("x".repeat(1000))), entry(text)],
    URLBlocklist: ["blocked.test"],
  });
  const chrome_policy = policyOf("x".repeat(5 * 1024 * 1024 - JSON.stringify(policyOf("")).length));
  const pool = await filledPool(kernel, { chrome_policy, network });
  const { cdp_ws_url } = await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
  expect(await visit(cdp_ws_url, "http://blocked.test/")).toMatchObject({ error: blocked });
  expect(await visit(cdp_ws_url, "http://site.test/")).toMatchObject({ text: "the host can't be reached" });
  await kernel.browserPools.delete(pool.id, { force: true });
});

// POOL-19
test("a policy that blocks every URL blocks pages, and neither CDP nor about:blank", async () => {
  const { kernel } = stack;
  const pool = await filledPool(kernel, { chrome_policy: { URLBlocklist: ["*"] }, network });
  const { cdp_ws_url } = await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
  expect(await visit(cdp_ws_url, "about:blank")).toEqual({ text: "", title: "" });
  for (const url of ["http://site.test/", "data:text/html,a", "file:///etc/hostname"])
    expect(await visit(cdp_ws_url, url), url).toMatchObject({ error: blocked });
  await kernel.browserPools.delete(pool.id, { force: true });
});

// POOL-16, POOL-18, HTTP-2
test.each([
  ["chrome_policy.HomepageLocation", "must be a string", { HomepageLocation: 5 }],
  ["chrome_policy.URLBlocklist[1]", "must be a string", { URLBlocklist: ["a.test", 5] }],
  ["chrome_policy.ManagedBookmarks[0].url", "must be a string", { ManagedBookmarks: [{ name: "a", url: 1 }] }],
  ["chrome_policy.UserDataDir", "is no policy of Chromium", { UserDataDir: "/tmp" }],
  ["chrome_policy.GSSAPILibraryName", "is not allowed: it loads a library", { GSSAPILibraryName: "/tmp/a.so" }],
])("%s is refused as such: %s", async (path, message, chrome_policy) => {
  for (const [where, body] of [
    ["/browser_pools", { size: 1, chrome_policy }],
    ["/browsers", { chrome_policy }],
  ] as const) {
    const response = await stack.call("POST", where, body);
    expect(response.status).toBe(400);
    const { inner_error, details } = (await response.json()) as Record<string, unknown>;
    expect(inner_error).toMatchObject({ code: "invalid_input" });
    expect(details).toEqual([expect.objectContaining({ path, message: expect.stringContaining(message) })]);
  }
});

// POOL-18
test("a policy that comes by a ConfigMap of another hand gets to no browser, and the pool's owner learns why", async () => {
  const { kube, namespace } = stack;
  const name = newId();
  const { ref, parts } = await packPolicy({ AlternativeBrowserPath: "/bin/sh" }, { namespace, name }, "byhand");
  for (const part of parts) await kube.create(configMaps, part);
  const spec = { size: 1, headless: true, fillRatePerMinute: 6000, chromePolicyRef: ref };
  await kube.create(browserPoolKind, { metadata: { name, namespace }, spec } as never);
  onTestFinished(() => kube.delete(browserPoolKind, { name, namespace }));
  const note = await eventually("an event", async () => {
    const { items } = await kube.list(events, { namespace });
    return items.find(({ regarding, reason }) => regarding?.name === name && reason === "SetupFailed")?.note;
  });
  expect(note).toContain("AlternativeBrowserPath is not allowed: it can start programs beside the browser");
  expect((await stack.kernel.browserPools.retrieve(name)).available_count).toBe(0);
});
