/** What the settings of pools and browsers do, seen in their browsers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filledPool } from "../support/filled-pool.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { visit } from "../support/visit.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const blocked = "net::ERR_BLOCKED_BY_ADMINISTRATOR";

describe.each([true, false])("headless: %s", (headless) => {
  // POOL-16, NETWORK-6
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
      expect(await visit(url, "http://other.test/")).toEqual({ text: "the host is not in allowed_hosts" });
      expect(await visit(url, "http://allowed.test/")).toEqual({ text: "the host can't be reached" });
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
  expect(await visit(browser.cdp_ws_url, "http://other.test/")).toEqual({ text: "the host is not in allowed_hosts" });
  await kernel.browsers.deleteByID(browser.session_id);
});
