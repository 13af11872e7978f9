/** A pool with everything at once, seen in one browser, and again after a reset. Needs a proxy on this machine. */
import { toFile } from "@onkernel/sdk";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { startLocalStack } from "../support/local-stack.ts";
import { markingExtension } from "../support/marking-extension.ts";
import { visit } from "../support/visit.ts";
import { ownAddress } from "../support/wall/machine.ts";
import { startTestParent } from "../support/wall/parent-proxy.ts";
import { createTestCa } from "../support/wall/test-ca.ts";

const blocked = "net::ERR_BLOCKED_BY_ADMINISTRATOR";

// PROXY-10, NETWORK-8, POOL-16, EXTENSION-3
test.each([true, false])("a pool with everything at once, headless: %s", async (headless) => {
  await using stack = await startLocalStack();
  const { kernel } = stack;
  await using ca = await createTestCa();
  const site = await ca.issue(["secure.test", "routed.test"]);
  const own = { tls: await ca.issue([ownAddress]), credentials: "user:p@ss:word" };
  await using parent = await startTestParent({ ...own, terminate: site });
  await using route = await startTestParent({ terminate: site });
  const custom = { host: ownAddress, port: parent.port, username: "user", password: "p@ss:word" };
  const proxy = await kernel.proxies.create({
    type: "custom",
    protocol: "https",
    config: { ...custom, ca_bundle: ca.certificate } as never,
  });
  const routed = await kernel.proxies.create({
    type: "custom",
    protocol: "http",
    config: { host: ownAddress, port: route.port, ca_bundle: ca.certificate } as never,
  });
  for (const name of ["first", "second"])
    await kernel.extensions.upload({ name, file: await toFile(markingExtension(name), `${name}.zip`) });
  const pool = await filledPool(kernel, {
    headless,
    stealth: true,
    viewport: { width: 900, height: 700 },
    start_url: "https://secure.test/start",
    chrome_policy: { URLBlocklist: ["blocked.test"] },
    extensions: [{ name: "first" }, { name: "second" }],
    proxy_id: proxy.id ?? "",
    network: {
      allowed_hosts: ["*.test"],
      private_hosts: [],
      proxy_routes: [{ hosts: ["routed.test"], proxy: { id: routed.id } }],
    },
  });
  await eventually("the start URL came through the proxy", () => parent.asked.includes("INSIDE GET secure.test/start"));
  for (const _ of ["at first", "after a reset"]) {
    const { cdp_ws_url: url, session_id } = await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
    expect(await visit(url, "https://secure.test/page")).toMatchObject({ text: "answered by the proxy" });
    await eventually("both extensions have marked a page", async () => {
      const { title } = await visit(url, "https://secure.test/marked");
      return ["first", "second"].every((name) => title.includes(name));
    });
    expect(parent.asked).toContain("CONNECT secure.test:443");
    expect(await visit(url, "https://routed.test/")).toMatchObject({ text: "answered by the proxy" });
    expect(route.asked).toContain("INSIDE GET routed.test/");
    expect(parent.asked).not.toContain("CONNECT routed.test:443");
    expect(await visit(url, "https://blocked.test/")).toMatchObject({ error: blocked });
    expect(await visit(url, "http://other.example/")).toMatchObject({ text: "the host is not in allowed_hosts" });
    await kernel.browserPools.release(pool.id, { session_id });
  }
  await expect(kernel.proxies.delete(proxy.id ?? "")).rejects.toMatchObject({ status: 409 });
});
