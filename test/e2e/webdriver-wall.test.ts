/** WebDriver BiDi behind a wall: its proxies lead no further than the wall allows. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectRawBidi } from "../support/bidi/raw-bidi.ts";
import { filledPool, type PoolParams } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { type HitServers, startHitServers } from "../support/wall/hit-servers.ts";
import { ownAddress } from "../support/wall/machine.ts";

let stack: LocalProject;
let forbidden: HitServers;
beforeAll(async () => {
  forbidden = await startHitServers("::");
  stack = await startProject();
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await forbidden?.[Symbol.asyncDispose]();
});

/**
 * Opens a forbidden URL in user contexts with proxies of their own, in a browser of a new pool. Returns how much has
 * arrived.
 */
const hitsOf = async (attempt: string, pool: PoolParams): Promise<number> => {
  const { id } = await filledPool(stack.kernel, pool);
  const session = await stack.kernel.browserPools.acquire(id, { acquire_timeout_seconds: 60 });
  const bidi = await connectRawBidi(session.webdriver_ws_url);
  const there = `${ownAddress}:${forbidden.port}`;
  const { tcp } = await forbidden.portsOf(attempt);
  for (const proxy of [
    { proxyType: "direct" },
    { proxyType: "manual", httpProxy: there },
    { proxyType: "manual", httpProxy: "127.0.0.1:1", noProxy: ["*"] },
    { proxyType: "manual", socksProxy: `${ownAddress}:${tcp}`, socksVersion: 5 },
  ]) {
    const { userContext } = await bidi.send("browser.createUserContext", { proxy });
    const { context } = await bidi.send("browsingContext.create", { type: "tab", userContext });
    const navigation = { context, url: `http://${there}/${attempt}`, wait: "complete" };
    await bidi.send("browsingContext.navigate", navigation).catch(() => undefined);
  }
  await bidi.close();
  return forbidden.hits(attempt);
};

// NETWORK-6, LEASE-13
test("a user context with another proxy, or with none, gets through no wall", async () => {
  expect(await hitsOf("walled", { network: { allowed_hosts: ["allowed.test"] } })).toBe(0);
  expect(await hitsOf("open", {})).toBeGreaterThan(0);
});
