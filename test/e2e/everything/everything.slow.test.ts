/**
 * A pool with everything at once, seen in its browser, and again after a reset. Needs proxies and a store of blobs on
 * this machine.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { eventually } from "../../support/eventually.ts";
import { untilAvailable } from "../../support/filled-pool.ts";
import { evaluate, withCdp } from "../../support/raw-cdp.ts";
import { visit } from "../../support/visit.ts";
import { makeBySdk } from "./by-sdk.ts";
import { makeByYaml } from "./by-yaml.ts";
import { extensionNames, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

const blocked = "net::ERR_BLOCKED_BY_ADMINISTRATOR";

/** What pages find of automation and of the window's size. */
const signs = "[navigator.webdriver, /Headless/.test(navigator.userAgent), innerWidth]";

/** Expects every setting in the browser at this URL. */
const expectEverything = async (url: string): Promise<void> => {
  const { parent, route } = world;
  for (const { asked, cookies } of [parent, route]) for (const list of [asked, cookies]) list.length = 0;
  expect(await visit(url, "https://secure.test/page")).toMatchObject({ text: "answered by the proxy" });
  expect(parent.asked).toContain("INSIDE GET secure.test/page");
  expect(parent.cookies).toContain("login=ann");
  await eventually("both extensions have marked a page", async () => {
    const { title } = await visit(url, "https://secure.test/marked");
    return extensionNames.every((name) => title.split(" ").includes(name));
  });
  expect(await visit(url, "https://routed.test/")).toMatchObject({ text: "answered by the proxy" });
  expect(route.asked).toContain("INSIDE GET routed.test/");
  expect(parent.asked).not.toContain("CONNECT routed.test:443");
  expect(await visit(url, "https://blocked.test/")).toMatchObject({ error: blocked });
  expect(await visit(url, "http://other.example/")).toMatchObject({ text: "the host is not in allowed_hosts" });
  expect(await withCdp(url, (cdp) => evaluate(cdp, signs))).toEqual([false, false, 900]);
};

describe.each([
  { by: "the SDK", prefix: "sdk", make: makeBySdk },
  { by: "YAML", prefix: "yaml", make: makeByYaml },
])("by $by", ({ prefix, make }) => {
  // PROXY-10, NETWORK-8, POOL-16, POOL-19, EXTENSION-3, PROFILE-3, BROWSER-15, BROWSER-20, BROWSER-22, LEASE-29
  test.each([true, false])(
    "a pool with everything at once, headless: %s",
    async (headless) => {
      const { kernel } = world.stack;
      const name = `${prefix}-${newId()}`;
      world.parent.asked.length = 0;
      await make(world, { name, headless });
      const pool = await untilAvailable(kernel, name, 1);
      await eventually("the start URL came through the proxy", () =>
        world.parent.asked.includes("INSIDE GET secure.test/start"),
      );
      for (const _ of ["at first", "after a reset"]) {
        const { cdp_ws_url, session_id } = await kernel.browserPools.acquire(name, { acquire_timeout_seconds: 60 });
        await expectEverything(cdp_ws_url);
        // The next holder finds the login of the profile again.
        await withCdp(cdp_ws_url, (cdp) => cdp.send("Storage.clearCookies"));
        await kernel.browserPools.release(name, { session_id });
      }

      const { proxy_id = "" } = pool.browser_pool_config as { proxy_id?: string };
      const inUse = { status: 409 };
      await expect(kernel.proxies.delete(proxy_id)).rejects.toMatchObject(inUse);
      await expect(kernel.profiles.delete(`${name}-work`)).rejects.toMatchObject(inUse);
      for (const id of pool.extension_ids) await expect(kernel.extensions.delete(id)).rejects.toMatchObject(inUse);
      await kernel.browserPools.delete(name, { force: true });
    },
    120_000,
  );
});
