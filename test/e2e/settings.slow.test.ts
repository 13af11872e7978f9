/** What the settings of pools and browsers do, seen in their browsers. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toFile } from "@onkernel/sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { markingExtension } from "../support/marking-extension.ts";
import { cookieOf, setCookie, withCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { visit } from "../support/visit.ts";
import { ownPrivateAddress } from "../support/wall/machine.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const blocked = "net::ERR_BLOCKED_BY_ADMINISTRATOR";

describe.each([true, false])("headless: %s", (headless) => {
  // POOL-16, POOL-19, NETWORK-6
  test("a pool's browser keeps to its policy and its network rules, and so does the one after a reset", async () => {
    const { kernel } = stack;
    const pool = await filledPool(kernel, {
      headless,
      chrome_policy: { URLBlocklist: ["http://blocked.test"] },
      network: { allowed_hosts: ["blocked.test", "allowed.test"] },
    });
    for (const _ of ["at first", "after a reset"]) {
      const session = await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
      const url = session.cdp_ws_url;
      expect(await visit(url, "http://blocked.test/")).toMatchObject({ error: blocked });
      expect(await visit(url, "http://other.test/")).toMatchObject({ text: "the host is not in allowed_hosts" });
      expect(await visit(url, "http://allowed.test/")).toMatchObject({ text: "the host can't be reached" });
      await kernel.browserPools.release(pool.id, { session_id: session.session_id, reuse: true });
    }
    await kernel.browserPools.delete(pool.id);
  });
});

// POOL-16, NETWORK-6
test("an on-demand browser keeps to its policy and its network rules", async () => {
  const { kernel } = stack;
  const browser = await kernel.browsers.create({
    headless: true,
    timeout_seconds: 60,
    chrome_policy: { URLBlocklist: ["http://blocked.test"] },
    // The SDK does not know this field yet.
    ...{ network: { allowed_hosts: ["blocked.test"] } },
  });
  expect(await visit(browser.cdp_ws_url, "http://blocked.test/")).toMatchObject({ error: blocked });
  expect(await visit(browser.cdp_ws_url, "http://other.test/")).toMatchObject({
    text: "the host is not in allowed_hosts",
  });
  await kernel.browsers.deleteByID(browser.session_id);
});

// PROFILE-3, PROFILE-7
test("what an on-demand browser saves to its profile is there in a pool's browsers", async () => {
  const { kernel } = stack;
  const { id } = await kernel.profiles.create({ name: "saved" });
  const first = await kernel.browsers.create({ headless: true, profile: { id, save_changes: true } });
  await withCdp(first.cdp_ws_url, (cdp) => setCookie(cdp, "login", "kept"));
  await kernel.browsers.deleteByID(first.session_id);
  const pool = await filledPool(kernel, { headless: true, profile: { id } });
  const session = await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
  expect(await withCdp(session.cdp_ws_url, (cdp) => cookieOf(cdp, "login"))).toBe("kept");
  await kernel.browserPools.delete(pool.id, { force: true });
  await kernel.profiles.delete(id);
});

/** The cluster of the tests has no way to servers of this machine. */
const isCluster = process.env.BROWSERPOOL_TEST_ADDRESS_FILE !== undefined;

// EXTENSION-3
test.each([true, false])("a pool's extensions work in its browsers, headless: %s", async (headless) => {
  const { kernel } = stack;
  const names = ["first", "second"].map((name) => `${name}-${headless}`);
  for (const name of names)
    await kernel.extensions.upload({ name, file: await toFile(markingExtension(name), `${name}.zip`) });
  const [first, second] = await Promise.all(names.map((name) => kernel.extensions.get(name)));
  const pool = await filledPool(kernel, {
    headless,
    extensions: [{ name: names[0] ?? "" }, { id: second?.id ?? "" }],
    // The wall answers with a page of its own.
    network: { allowed_hosts: ["page.test"] },
  });
  expect(pool.extension_ids).toEqual([first?.id, second?.id]);
  const session = await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
  await eventually("both extensions have marked a page", async () => {
    const { title } = await visit(session.cdp_ws_url, "http://page.test/");
    return names.every((name) => title.includes(name));
  });
  await expect(kernel.extensions.delete(names[0] ?? "")).rejects.toMatchObject({ status: 409 });
  await kernel.browserPools.delete(pool.id, { force: true });
});

// NETWORK-7
test.runIf(ownPrivateAddress && !isCluster)(
  "a browser reaches the private hosts that its pool names, and no others",
  async () => {
    const site = createServer((_, response) => response.end("hello"));
    onTestFinished(() => void site.close());
    await new Promise<void>((resolve) => site.listen(0, resolve));
    const url = `http://${ownPrivateAddress}:${(site.address() as AddressInfo).port}/`;
    const { kernel } = stack;
    const seen = async (private_hosts: string[]): Promise<string> => {
      const pool = await filledPool(kernel, { network: { private_hosts } });
      const session = await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
      const { text } = await visit(session.cdp_ws_url, url);
      await kernel.browserPools.delete(pool.id, { force: true });
      return text;
    };
    expect(await seen([ownPrivateAddress ?? ""])).toBe("hello");
    expect(await seen([])).toBe("the address is private and not in private_hosts");
  },
);
