/** For benchmarks: a login in a vault, and a browser that has the vault attached and a form open. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CDPSession, connect, type Page } from "puppeteer-core";
import type { Call } from "../../test/support/pool-client.ts";

const form = `<!doctype html><title>shop</title>
<form><input id=user><input id=pw type=password><input id=code><button type=button>in</button></form>`;

const values = { username: "ann@shop.example", password: "correct horse battery staple", code: "123456" };

/** Field of the item → selector of the page. */
const fields = [
  { field: "username", selector: "#user" },
  { field: "password", selector: "#pw" },
  { field: "code", selector: "#code" },
];

type Shop = {
  /** Fills three fields through the service. Throws unless the service answers that all are filled. */
  fill(): Promise<void>;
  /** Types three texts with puppeteer: no checks, no isolation, one frame. */
  type(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const ask = async <T>(call: Call, method: string, path: string, body?: unknown): Promise<T> => {
  const response = await call(method, path, body);
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
};

const serveForm = async (): Promise<{ url: string; close(): void }> => {
  const server = createServer((_request, response) => response.setHeader("content-type", "text/html").end(form));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
};

const typeInto = async (page: Page, cdp: CDPSession): Promise<void> => {
  for (const [index, { selector }] of fields.entries()) {
    const element = await page.$(selector);
    await element?.evaluate((input) => {
      (input as unknown as { select(): void }).select();
    });
    await cdp.send("Input.insertText", { text: Object.values(values)[index] ?? "" });
    await element?.dispose();
  }
};

export const openShop = async (call: Call): Promise<Shop> => {
  await using parts = new AsyncDisposableStack();
  const site = await serveForm();
  parts.defer(site.close);
  await ask(call, "POST", "/credentials", { name: "shop", domain: "shop.example", values });
  const login = { domain: "shop.example", profile_name: "bench", credential: { name: "shop" } };
  const connection = await ask<{ id: string }>(call, "POST", "/auth/connections", login);
  const vault = await ask<{ id: string }>(call, "POST", "/vaults", { name: "bench" });
  const item = `/vaults/${vault.id}/items/shop`;
  const spec = { provider: "managed_auth", connection_id: connection.id };
  await ask(call, "PUT", item, { type: "credential", spec });
  const wanted = { headless: true, vaults: [{ id: vault.id }], start_url: site.url, timeout_seconds: 3600 };
  const session = await ask<{ session_id: string; cdp_ws_url: string }>(call, "POST", "/browsers", wanted);
  const browser = await connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  parts.defer(() => browser.disconnect());
  const target = await browser.waitForTarget((one) => one.url() === site.url);
  const page = await target.page();
  if (!page) throw new Error("the browser has no page");
  await page.waitForSelector("button");
  const cdp = await page.createCDPSession();
  const kept = parts.move();
  return {
    async fill() {
      const operation = { type: "fill", browser_id: session.session_id, fields };
      const { status } = await ask<{ status: string }>(call, "POST", `${item}/operations`, operation);
      if (status !== "completed") throw new Error(`the fill ended as ${status}`);
    },
    type: () => typeInto(page, cdp),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
