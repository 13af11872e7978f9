/** Fills that are refused: the order of the checks, the time that they have, and what is recorded of them. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, connect, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { eventually } from "../../support/eventually.ts";
import { freeze, processNamed } from "../../support/processes.ts";
import { redisServerName } from "../../support/redis-servers.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Answer = { status: number; body: any };
type Shop = { vault: string; item: string; credential: string };

let stack: LocalProject;
let site: Server;
let siteUrl: string;
let browser: Browser;
let page: Page;
/** The session of a browser with the vault of `shop` and that of `empty`, whose item has lost its credential. */
let session: string;
let shop: Shop;
let empty: Shop;
/** An item of a vault that no browser has. */
let elsewhere: Shop;

const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
  const response = await stack.call(method, path, body);
  const answer = await response.text();
  return { status: response.status, body: answer === "" ? undefined : JSON.parse(answer) };
};
const made = async (method: string, path: string, body: unknown) => {
  const { status, body: answer } = await call(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
  return answer;
};

const newShop = async (): Promise<Shop> => {
  const credential = `c-${newId()}`;
  await made("POST", "/credentials", { name: credential, domain: "shop.example", values: { username: "canary" } });
  const asked = { domain: "shop.example", profile_name: `p-${newId()}`, credential: { name: credential } };
  const { id: connection } = await made("POST", "/auth/connections", asked);
  const { id: vault } = await made("POST", "/vaults", { name: `v-${newId()}` });
  const item = `/vaults/${vault}/items/login`;
  await made("PUT", item, { type: "credential", spec: { provider: "managed_auth", connection_id: connection } });
  return { vault, item, credential };
};

beforeAll(async () => {
  stack = await startProject();
  site = createServer((_, response) => response.setHeader("content-type", "text/html").end("<input id=user>"));
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  shop = await newShop();
  empty = await newShop();
  elsewhere = await newShop();
  const vaults = [{ id: shop.vault }, { id: empty.vault }];
  const started = await made("POST", "/browsers", { headless: true, vaults, start_url: siteUrl });
  session = started.session_id;
  browser = await connect({ browserWSEndpoint: started.cdp_ws_url, defaultViewport: null });
  const tab = await (await browser.waitForTarget((one) => one.url() === siteUrl)).page();
  if (!tab) throw new Error("no page");
  page = tab;
  await page.waitForSelector("#user");
  for (const { credential } of [empty]) await call("DELETE", `/credentials/${credential}`);
});
afterAll(async () => {
  await browser?.disconnect();
  site?.close();
  site?.closeAllConnections();
  await stack?.[Symbol.asyncDispose]();
});

const body = (more: object = {}): object => ({
  type: "fill",
  browser_id: session,
  fields: [{ field: "username", selector: "#user" }],
  ...more,
});
const fill = ({ item }: Shop, more?: object): Promise<Answer> => call("POST", `${item}/operations`, body(more));
const typed = (): Promise<string> => page.$eval("#user", (input) => (input as unknown as { value: string }).value);
const unknownField = { fields: [{ field: "pin", selector: "#user" }] };

/** How often the service has read a Secret. */
const secretReads = async (): Promise<number> => {
  const metrics = await (await stack.call("GET", "/metrics")).text();
  const reads = [...metrics.matchAll(/^browserpool_kube_requests_total\{method="GET",resource="secrets".*\} (\d+)$/gm)];
  return reads.reduce((sum, [, count]) => sum + Number(count), 0);
};

describe("the checks of a fill", () => {
  // FILL-43
  test.each<[string, number, string, () => [Shop, object]]>([
    ["the request, before the item", 400, "bad_request", () => [{ ...shop, item: `${shop.item}-not` }, { fields: [] }]],
    ["the item, before the browser", 404, "not_found", () => [{ ...shop, item: `${shop.item}-not` }, {}]],
    ["the browser, before the item's state", 404, "not_found", () => [empty, { browser_id: "nobody" }]],
    ["the attachment, before the fields", 403, "vault_not_attached", () => [elsewhere, unknownField]],
    ["the item's state, before the fields", 409, "item_unavailable", () => [empty, unknownField]],
    [
      "the fields, before the page",
      400,
      "field_unavailable",
      () => [shop, { ...unknownField, page_url: "http://no/" }],
    ],
  ])("are in order: %s", async (_, status, code, given) => {
    const [at, more] = given();
    const answer = await fill(at, more);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await typed()).toBe("");
  });

  // FILL-44
  test("read no stored value before the vault is known to be attached to the browser", async () => {
    const before = await secretReads();
    for (let i = 0; i < 3; i++) {
      expect((await fill(elsewhere)).status).toBe(403);
      expect((await fill(shop, { browser_id: "nobody" })).status).toBe(404);
    }
    expect(await secretReads()).toBe(before);
    expect((await fill(shop, unknownField)).status).toBe(400);
    expect(await secretReads()).toBe(before + 1);
  });
});

describe("the time of a fill", () => {
  const late = (before: string) => ({
    status: 409,
    body: {
      code: "browser_not_ready",
      message: expect.stringMatching(`^timeout_ms: the \\d+ ms were over before ${before}.*; nothing was written$`),
      inner_error: { code: "timeout" },
      details: [{ code: "timeout", path: "timeout_ms" }],
    },
  });

  // FILL-45
  test("begins when the request arrives: a body that takes longer is refused", async () => {
    const { hostname, port } = new URL(stack.url);
    const sent = httpRequest({
      hostname,
      port,
      path: `${shop.item}/operations`,
      method: "POST",
      headers: { authorization: `Bearer ${stack.api_key}`, "content-type": "application/json" },
    });
    const json = JSON.stringify(body({ timeout_ms: 400 }));
    sent.write(json.slice(0, 20));
    await sleep(900);
    sent.end(json.slice(20));
    const [response] = await once(sent, "response");
    expect({ status: response.statusCode, body: JSON.parse(await text(response)) }).toMatchObject(
      late("the request had arrived"),
    );
    expect(await typed()).toBe("");
  });

  // FILL-45
  test.each(["kube-apiserver", redisServerName()])("covers what the service reads while %s is still", async (name) => {
    const { pid } = await processNamed(stack.dataDir, name);
    await freeze(pid);
    try {
      expect(await fill(shop, { timeout_ms: 400 })).toMatchObject(late("the service had read"));
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await eventually("all is well again", async () => (await fill(shop, unknownField)).status === 400);
    expect(await typed()).toBe("");
  });

  // FILL-25, FILL-45
  test("covers a page that is not ready, and the refusal says so", async () => {
    const opened = once(page as never, "dialog");
    await page.evaluate("setTimeout(() => alert('stop'))");
    const [dialog] = await opened;
    expect(await fill(shop, { timeout_ms: 700 })).toMatchObject(late("the browser and the page were ready"));
    await dialog.accept();
    expect(await typed()).toBe("");
  });
});

describe("a refused fill", () => {
  const events = async ({ item }: Shop) => (await call("GET", `${item}/events?limit=100`)).body;

  // ITEM-36, ITEM-39
  test.each<[string, () => Shop, object, boolean]>([
    ["bad_request", () => shop, { fields: [], page_url: "https://canary.example" }, false],
    ["not_found", () => shop, { browser_id: "canary" }, false],
    ["vault_not_attached", () => elsewhere, {}, true],
    ["item_unavailable", () => empty, {}, true],
    ["field_unavailable", () => shop, { fields: [{ field: "canary", selector: "#user" }] }, true],
    ["page_not_found", () => shop, { page_url: "https://canary.example" }, true],
    ["element_not_found", () => shop, { fields: [{ field: "username", selector: "#canary" }] }, true],
  ])("leaves an event with its code: %s", async (code, of, more, hasBrowser) => {
    const before = (await events(of())).length;
    expect((await fill(of(), more)).body.code).toBe(code);
    const left = await events(of());
    expect(left.length).toBe(before + 1);
    const event = left.at(-1);
    expect(event).toMatchObject({ type: "fill", item: "login", actor: { id: expect.any(String) }, outcome: code });
    expect(event.browser_id).toBe(hasBrowser ? session : undefined);
    expect(JSON.stringify(left)).not.toContain("canary");
  });

  // ITEM-39
  test("leaves an event when its body is no JSON, and nothing when there is no such item", async () => {
    const before = (await events(shop)).length;
    const headers = { authorization: `Bearer ${stack.api_key}`, "content-type": "application/json" };
    const send = (item: string) =>
      fetch(`${stack.url}${item}/operations`, { method: "POST", headers, body: `{"type": "canary` });
    expect((await send(shop.item)).status).toBe(400);
    const after = await events(shop);
    expect([after.length, after.at(-1).outcome]).toEqual([before + 1, "bad_request"]);
    expect((await send(`${shop.item}-not`)).status).toBe(400);
    expect((await events(shop)).length).toBe(after.length);
  });

  // ITEM-39
  test("leaves nothing when its key may not fill", async () => {
    const before = (await events(shop)).length;
    const { key } = await made("POST", "/org/api_keys", { name: `k-${newId()}`, permissions: ["vaults:read"] });
    const path = `${shop.item}/operations`;
    const refused = await eventually("the key is known", async () => {
      const response = await stack.call("POST", path, body(unknownField), { authorization: `Bearer ${key}` });
      return response.status !== 401 && response;
    });
    expect(refused.status).toBe(403);
    expect((await events(shop)).length).toBe(before);
  });

  // AUDIT-1
  test("has an audit line, which names item and browser once they are known", async () => {
    expect((await fill(shop, unknownField)).status).toBe(400);
    const line = await eventually("its line", async () => {
      const lines = (await readFile(join(stack.dataDir, "logs/audit.log"), "utf8")).trim().split("\n");
      return lines
        .map((each) => JSON.parse(each))
        .findLast(({ code, project }) => code === "field_unavailable" && project === stack.project);
    });
    expect(line).toMatchObject({ object: `${shop.item}/operations`, session, result: "failed", status: 400 });
  });
});
