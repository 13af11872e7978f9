/**
 * Who gets a browser that a former holder has left as it stands: callers of a pool that keeps browsers, and nobody
 * else.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool, type PoolParams, untilAvailable } from "../support/filled-pool.ts";
import { cookieOf, setCookie, withCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";

const form = "<!doctype html><title>shop</title><form><input id=user><input id=pw type=password></form>";

let stack: Stack;
let site: Server;
let shop: string;
/** What the page of a former holder has sent home. */
const stolen: string[] = [];
beforeAll(async () => {
  stack = await startStack();
  site = createServer(({ url = "" }, response) => {
    if (url.startsWith("/stolen?")) stolen.push(decodeURIComponent(url.slice("/stolen?".length)));
    response.setHeader("content-type", "text/html").end(form);
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  shop = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(async () => {
  site?.close();
  site?.closeAllConnections();
  await stack?.[Symbol.asyncDispose]();
});

const pool = async (more: PoolParams): Promise<string> =>
  (await filledPool(stack.kernel, { size: 1, reuse_policy: "keep", ...more })).id;

const call = async (method: string, path: string, body?: unknown) => {
  const response = await stack.call(method, path, body);
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return text === "" ? undefined : JSON.parse(text);
};

const withPage = async <Result>(url: string, work: (page: Page) => Promise<Result>): Promise<Result> => {
  const browser = await connect({ browserWSEndpoint: url, defaultViewport: null });
  try {
    const page = (await browser.pages()).find((open) => open.url().startsWith(shop)) ?? (await browser.newPage());
    if (!page.url().startsWith(shop)) await page.goto(shop);
    return await work(page);
  } finally {
    await browser.disconnect();
  }
};

/** Holds a browser of the pool and gives it back with a cookie. */
const leaveCookie = async (id: string): Promise<void> => {
  const { session_id, cdp_ws_url } = await stack.kernel.browserPools.acquire(id, {});
  await withCdp(cdp_ws_url, (cdp) => setCookie(cdp, "left", "behind"));
  await stack.kernel.browserPools.release(id, { session_id });
  await untilAvailable(stack.kernel, id, 1);
};

const foundCookie = async (id: string): Promise<string | undefined> => {
  const { session_id, cdp_ws_url } = await stack.kernel.browserPools.acquire(id, {});
  const found = await withCdp(cdp_ws_url, (cdp) => cookieOf(cdp, "left"));
  await stack.kernel.browserPools.release(id, { session_id });
  await untilAvailable(stack.kernel, id, 1);
  return found;
};

/** A vault with a login that is for the shop alone. */
const vaultOfShop = async (): Promise<string> => {
  const credential = `c-${newId()}`;
  const values = { username: "ann", password: "geheim" };
  await call("POST", "/credentials", { name: credential, domain: "shop.example", values });
  const { id: connection } = await call("POST", "/auth/connections", {
    ...{ domain: "shop.example", profile_name: `p-${newId()}`, credential: { name: credential } },
  });
  const { id: vault } = await call("POST", "/vaults", { name: `v-${newId()}` });
  const spec = { provider: "managed_auth", connection_id: connection, allowed_origins: [shop] };
  await call("PUT", `/vaults/${vault}/items/login`, { type: "credential", spec });
  return vault;
};

// POOL-22, LEASE-63
test("a browser on demand comes from no page of a former holder, whatever the pool keeps, and what is filled stays in it", async () => {
  const id = await pool({ serve_on_demand: true });
  const thief = await stack.kernel.browserPools.acquire(id, {});
  await withPage(thief.cdp_ws_url, (page) =>
    page.evaluate(
      "void setInterval(() => fetch('/stolen?' + encodeURIComponent(document.querySelector('#pw').value)), 50)",
    ),
  );
  await stack.kernel.browserPools.release(id, { session_id: thief.session_id });
  await untilAvailable(stack.kernel, id, 1);
  await eventually("the page of the former holder goes on", () => stolen.length > 0);

  const vault = await vaultOfShop();
  const { session_id, cdp_ws_url } = await call("POST", "/browsers", { headless: true, vaults: [{ id: vault }] });
  const shown = await withPage(cdp_ws_url, async (page) => {
    const answer = await call("POST", `/vaults/${vault}/items/login/operations`, {
      ...{ type: "fill", browser_id: session_id, page_url: page.url() },
      fields: [{ field: "password", selector: "#pw" }],
    });
    expect(answer).toMatchObject({ status: "completed" });
    return page.$eval("#pw", (field) => (field as unknown as { value: string }).value);
  });
  expect(shown).toBe("geheim");
  const before = stolen.length;
  await eventually("the page of the former holder has looked again", () => stolen.length > before + 3);
  expect(stolen.filter((value) => value !== "")).toEqual([]);
  await call("DELETE", `/browsers/${session_id}`);
});

// LEASE-63, POOL-PATCH-20
test("a pool that keeps browsers and shall reset them discards those that were used, and hands out none of them meanwhile", async () => {
  const id = await pool({});
  await leaveCookie(id);
  expect(await foundCookie(id)).toBe("behind");
  await stack.kernel.browserPools.update(id, { reuse_policy: "reset" } as object);
  expect(await foundCookie(id)).toBeUndefined();
});

// LEASE-63
test("so does one that is changed in YAML", async () => {
  const id = await pool({});
  await leaveCookie(id);
  const found = await stack.kube.get(browserPoolKind, { name: id, namespace: stack.namespace });
  if (!found) throw new Error("no pool");
  await stack.kube.replace(browserPoolKind, { ...found, spec: { ...found.spec, reusePolicy: "reset" } });
  await eventually("the used browser is gone", async () => {
    const { available_count } = await stack.kernel.browserPools.retrieve(id);
    return available_count === 0;
  });
  await untilAvailable(stack.kernel, id, 1);
  expect(await foundCookie(id)).toBeUndefined();
});
