/**
 * What the settings of pools and browsers do, seen in their browsers, where nothing but the service and its store of
 * blobs is needed.
 */
import { toFile } from "@onkernel/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { markingExtension } from "../support/marking-extension.ts";
import { cookieOf, setCookie, withCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { visit } from "../support/visit.ts";

let stack: Stack;
let profile: { id: string };
beforeAll(async () => {
  stack = await startStack();
  profile = await stack.kernel.profiles.create({ name: "saved" });
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const settings = {
  chrome_policy: { URLBlocklist: ["http://blocked.test"] },
  // The SDK does not know this field yet.
  ...{ network: { allowed_hosts: ["blocked.test", "allowed.test"] } },
};

/** Expects the policy and the network rules in the browser at this URL. */
const keepsTo = async (url: string): Promise<void> => {
  expect(await visit(url, "http://blocked.test/")).toMatchObject({ error: "net::ERR_BLOCKED_BY_ADMINISTRATOR" });
  expect(await visit(url, "http://other.test/")).toMatchObject({ text: "the host is not in allowed_hosts" });
  expect(await visit(url, "http://allowed.test/")).toMatchObject({ text: "the host can't be reached" });
};

// POOL-16, NETWORK-6, PROFILE-7
test("an on-demand browser keeps to its policy and its network rules, and saves its profile", async () => {
  const { kernel } = stack;
  const browser = await kernel.browsers.create({
    ...{ headless: true, timeout_seconds: 60, profile: { id: profile.id, save_changes: true } },
    ...settings,
  });
  await keepsTo(browser.cdp_ws_url);
  await withCdp(browser.cdp_ws_url, (cdp) => setCookie(cdp, "login", "kept"));
  await kernel.browsers.deleteByID(browser.session_id);
});

// POOL-16, POOL-19, NETWORK-6, EXTENSION-3, PROFILE-3
test("a pool's browser keeps to its policy and its network rules, and has its extensions and its profile, again after a reset", async () => {
  const { kernel } = stack;
  const names = ["first", "second"];
  for (const name of names)
    await kernel.extensions.upload({ name, file: await toFile(markingExtension(name), `${name}.zip`) });
  const extensions = names.map((name) => ({ name }));
  const pool = await filledPool(kernel, { ...settings, headless: false, profile: { id: profile.id }, extensions });
  for (const _ of ["at first", "after a reset"]) {
    const { cdp_ws_url: url, session_id } = await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
    await keepsTo(url);
    expect(await withCdp(url, (cdp) => cookieOf(cdp, "login"))).toBe("kept");
    await eventually("both extensions have marked a page", async () => {
      // The wall answers with a page of its own.
      const { title } = await visit(url, "http://allowed.test/");
      return names.every((name) => title.includes(name));
    });
    await kernel.browserPools.release(pool.id, { session_id, reuse: true });
  }
  await expect(kernel.extensions.delete("first")).rejects.toMatchObject({ status: 409 });
  await kernel.browserPools.delete(pool.id, { force: true });
});
