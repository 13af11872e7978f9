/** The operation `fill` over HTTP: its answers to every error, and what happens when parts fail in the middle of it. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, connect, type Page } from "puppeteer-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { browserKind } from "../../../src/core/model/browsers/browser.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { credentialKind } from "../../../src/features/vaults/credentials/credential.ts";
import { vaultKind } from "../../../src/features/vaults/vault.ts";
import { pods, secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { freeze, processNamed } from "../../support/processes.ts";
import { redisServerName } from "../../support/redis-servers.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";

let stack: LocalProject;
let site: Server;
let siteUrl: string;
let noteKey = (): void => undefined;

const page = `<!doctype html><title>shop</title>
<form onsubmit="event.preventDefault()">
  <input id=user><input id=pw type=password><input id=otp>
  <input id=off disabled><input class=twice><input class=twice><button>in</button>
</form>`;

/**
 * Every keystroke in the field is reported to the site and then keeps the page busy, so that a fill takes two seconds.
 */
const slowPage = `${page}<script>
  document.querySelector("#user").addEventListener("input", () => {
    const told = new XMLHttpRequest();
    told.open("POST", "/key", false);
    told.send();
    const end = Date.now() + 2000;
    while (Date.now() < end);
  });
</script>`;

/** Resolves at the next key in the field of a slow page: a fill is in its middle. */
const nextKey = (): Promise<void> =>
  new Promise((resolve) => {
    noteKey = resolve;
  });

beforeAll(async () => {
  stack = await startProject();
  site = createServer((request, response) => {
    if (request.url === "/key") noteKey();
    response.setHeader("content-type", "text/html").end(request.url === "/slow" ? slowPage : page);
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(async () => {
  site?.close();
  site?.closeAllConnections();
  await stack?.[Symbol.asyncDispose]();
});

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Answer = { status: number; body: any };
const call = async (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Answer> => {
  const response = await stack.call(method, path, body, headers);
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
};
const made = async (method: string, path: string, body: unknown, headers?: Record<string, string>) => {
  const { status, body: answer } = await call(method, path, body, headers);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
  return answer;
};

const values = { username: "ann", password: "geheim" };
const binding = {
  username: { field: "username", selector: "#user" },
  password: { field: "password", selector: "#pw" },
};

type Shop = { vault: string; item: string; credential: string; connection: string };

/** A new vault with an item `login`. `more`: further fields of its credential and its connection. */
const newShop = async (
  spec: object = {},
  headers?: Record<string, string>,
  more: { credential?: object; connection?: object } = {},
): Promise<Shop> => {
  const credential = `c-${newId()}`;
  await made(
    "POST",
    "/credentials",
    { name: credential, domain: "shop.example", values, totp_secret: "GEZDGNBVGY3TQOJQ", ...more.credential },
    headers,
  );
  const linked = { credential: { name: credential }, ...more.connection };
  const asked = { domain: "shop.example", profile_name: `p-${newId()}`, ...linked };
  const { id: connection } = await made("POST", "/auth/connections", asked, headers);
  const { id: vault } = await made("POST", "/vaults", { name: `v-${newId()}` }, headers);
  const item = `/vaults/${vault}/items/login`;
  await made(
    "PUT",
    item,
    { type: "credential", spec: { provider: "managed_auth", connection_id: connection, ...spec } },
    headers,
  );
  return { vault, item, credential, connection };
};

type Tab = { session: string; browser: Browser; page: Page };
const open = async (vault: string, path = "/"): Promise<Tab> => {
  const url = siteUrl + path;
  const { session_id, cdp_ws_url } = await made("POST", "/browsers", {
    headless: true,
    vaults: [{ id: vault }],
    start_url: url,
  });
  const browser = await connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
  const target = await browser.waitForTarget((one) => one.url() === url);
  const tab = await target.page();
  if (!tab) throw new Error("no page");
  await tab.waitForSelector("button");
  return { session: session_id, browser, page: tab };
};
const close = async ({ session, browser }: Tab): Promise<void> => {
  await browser.disconnect();
  await call("DELETE", `/browsers/${session}`);
};
const typed = ({ page: tab }: Tab): Promise<string[]> =>
  tab.$$eval("#user, #pw, #otp", (inputs) => inputs.map((input) => (input as unknown as { value: string }).value));
const fill = (item: string, tab: Pick<Tab, "session">, more: object = {}) =>
  call("POST", `${item}/operations`, {
    type: "fill",
    browser_id: tab.session,
    fields: [binding.username, binding.password],
    ...more,
  });

describe("with one browser and one item", () => {
  let shop: Shop;
  let tab: Tab;
  beforeAll(async () => {
    shop = await newShop();
    tab = await open(shop.vault);
  });
  afterAll(() => close(tab));
  beforeEach(async () => {
    await tab.page.$$eval("input", (inputs) => {
      for (const input of inputs) Object.assign(input, { value: "" });
    });
  });

  // VAULT-8, FILL-1, FILL-24, FILL-27, FILL-28, FILL-33, FILL-38
  test("values are written to their fields in order, and the answer contains none of them", async () => {
    const { status, body } = await fill(shop.item, tab, {
      page_url: `${siteUrl}/`,
      fields: [binding.username, binding.password, { field: "totp", selector: "#otp" }],
    });
    expect([status, body]).toEqual([
      200,
      {
        type: "fill",
        status: "completed",
        fields: [0, 1, 2].map((index) => ({ index, status: "filled" })),
      },
    ]);
    const { code } = (await call("GET", `/credentials/${shop.credential}/totp-code`)).body;
    const [user, password, otp] = await typed(tab);
    expect([user, password]).toEqual(["ann", "geheim"]);
    expect(otp).toMatch(/^\d{6}$/);
    if (code !== otp)
      expect((await fill(shop.item, tab, { fields: [{ field: "totp", selector: "#otp" }] })).status).toBe(200);
  });

  // FILL-38, FILL-41
  test("a code alone is written, and the other fields stay as they are", async () => {
    const { status, body } = await fill(shop.item, tab, { fields: [{ field: "totp", selector: "#otp" }] });
    expect([status, body.status]).toEqual([200, "completed"]);
    expect(await typed(tab)).toEqual(["", "", expect.stringMatching(/^\d{6}$/)]);
  });

  // FILL-9, FILL-10
  test("a stored value that is named totp is not typed, neither as a value nor as a code", async () => {
    const change = (body: object) => call("PATCH", `/credentials/${shop.credential}`, body);
    await change({ values: { totp: "stored" }, totp_secret: "" });
    const asked = { fields: [{ field: "totp", selector: "#otp" }] };
    expect(await fill(shop.item, tab, asked)).toMatchObject({ status: 400, body: { code: "field_unavailable" } });
    await change({ remove_value_keys: ["totp"], totp_secret: "GEZDGNBVGY3TQOJQ" });
    expect((await fill(shop.item, tab, asked)).body).toMatchObject({ status: "completed" });
  });

  // FILL-2, FILL-6, FILL-8, FILL-9, FILL-10, FILL-11, FILL-12, FILL-16, FILL-17
  test.each<[string, number, string, object]>([
    ["a field that the item has not", 400, "field_unavailable", { fields: [{ field: "pin", selector: "#pw" }] }],
    ["the seed by its name", 400, "field_unavailable", { fields: [{ field: "totp_secret", selector: "#pw" }] }],
    ["a page that is not open", 400, "page_not_found", { page_url: "http://127.0.0.1:9/" }],
    ["a page but for its fragment", 400, "page_not_found", { page_url: "#top" }],
    ["an invalid selector", 400, "invalid_selector", { fields: [{ field: "password", selector: "##" }] }],
    [
      "a selector that matches nothing",
      400,
      "element_not_found",
      { fields: [{ field: "password", selector: "#nobody" }] },
    ],
    ["one that matches several", 400, "ambiguous_selector", { fields: [{ field: "password", selector: ".twice" }] }],
    ["a button", 400, "element_not_editable", { fields: [{ field: "password", selector: "button" }] }],
    ["a disabled field", 400, "element_not_editable", { fields: [{ field: "password", selector: "#off" }] }],
    [
      "one element twice",
      400,
      "duplicate_target",
      { fields: [binding.password, { field: "username", selector: "[type=password]" }] },
    ],
    ["no bindings", 400, "bad_request", { fields: [] }],
    ["51 bindings", 400, "bad_request", { fields: Array.from({ length: 51 }, () => binding.password) }],
    ["no time at all", 400, "bad_request", { timeout_ms: 0 }],
    ["more than 30 s", 400, "bad_request", { timeout_ms: 30_001 }],
    ["another operation", 400, "bad_request", { type: "submit" }],
    ["a browser that does not exist", 404, "not_found", { browser_id: "nobody" }],
  ])("%s: %i %s, and nothing is written", async (_, status, code, more) => {
    const given = "page_url" in more && more.page_url === "#top" ? { page_url: `${siteUrl}/#top` } : more;
    const answer = await fill(shop.item, tab, given);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(JSON.stringify(answer.body)).not.toContain("geheim");
    expect(await typed(tab)).toEqual(["", "", ""]);
  });

  // FILL-3
  test("a vault or an item that does not exist is 404", async () => {
    expect(await fill("/vaults/nobody/items/login", tab)).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await fill(`/vaults/${shop.vault}/items/nothing`, tab)).toMatchObject({ status: 404 });
  });

  // FILL-12, FILL-13
  test("an ambiguous page is refused: two pages with one URL, or two pages and none named", async () => {
    const second = await tab.browser.newPage();
    await second.goto(`${siteUrl}/`);
    expect((await fill(shop.item, tab, { page_url: `${siteUrl}/` })).body.code).toBe("page_ambiguous");
    expect((await fill(shop.item, tab)).body.code).toBe("page_ambiguous");
    await second.close();
    expect((await fill(shop.item, tab)).status).toBe(200);
  });

  // VAULT-13, FILL-4
  test("a vault that is not attached is refused, and a pooled browser has none", async () => {
    const other = await newShop();
    expect(await fill(other.item, tab)).toMatchObject({ status: 403, body: { code: "vault_not_attached" } });
    const { id } = await made("POST", "/browser_pools", { size: 1, headless: true, fill_rate_per_minute: 6000 });
    const pooled = await made("POST", `/browser_pools/${id}/acquire`, { vaults: [{ id: shop.vault }] });
    expect(pooled).not.toHaveProperty("vaults");
    expect(await fill(shop.item, { session: pooled.session_id })).toMatchObject({
      status: 403,
      body: { code: "vault_not_attached" },
    });
    await call("DELETE", `/browser_pools/${id}`, { force: true });
  });

  test("one fill at a time runs in a browser: the others are refused, and no value is written twice", async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => fill(shop.item, tab)));
    const codes = answers.map(({ status, body }) => (status === 200 ? body.status : body.code)).sort();
    expect(codes[0]).toBe("completed");
    for (const code of codes) expect(["completed", "fill_in_progress"]).toContain(code);
    expect((await typed(tab)).slice(0, 2)).toEqual(["ann", "geheim"]);
  });

  test("a repeated request with its key gets the first answer, and types nothing", async () => {
    const key = { "idempotency-key": newId() };
    const body = { type: "fill", browser_id: tab.session, fields: [binding.password] };
    const first = await call("POST", `${shop.item}/operations`, body, key);
    await tab.page.$eval("#pw", (input) => Object.assign(input, { value: "mine" }));
    expect(await call("POST", `${shop.item}/operations`, body, key)).toEqual(first);
    expect((await typed(tab))[1]).toBe("mine");
  });

  // ITEM-34, ITEM-35, ITEM-36
  test("every fill leaves an event with caller, item and page, and without a value", async () => {
    const { body: before } = await call("GET", `${shop.item}/events`);
    const waiting = call("GET", `${shop.item}/events?after=${before.at(-1).id}&wait=20`);
    await fill(shop.item, tab);
    expect((await waiting).body).toMatchObject([
      {
        type: "fill",
        item: "login",
        actor: { id: expect.any(String) },
        browser_id: tab.session,
        origin: siteUrl,
        outcome: "completed",
      },
    ]);
    await fill(shop.item, tab, { fields: [{ field: "password", selector: "#nobody" }] });
    const { body: after } = await call("GET", `${shop.item}/events`);
    expect(after.at(-1)).toMatchObject({ type: "fill", outcome: "element_not_found" });
    expect(JSON.stringify(after)).not.toContain("geheim");
  });
});

describe("an item with allowed origins", () => {
  // ITEM-37, FILL-19
  test("is filled into pages of these origins, and refused in any other page", async () => {
    const here = await newShop({ allowed_origins: [siteUrl] });
    const tab = await open(here.vault);
    expect(await fill(here.item, tab)).toMatchObject({ status: 200, body: { status: "completed" } });
    await close(tab);
    const elsewhere = await newShop({
      allowed_origins: ["https://shop.example", siteUrl.replace("127.0.0.1", "localhost")],
    });
    const other = await open(elsewhere.vault);
    expect(await fill(elsewhere.item, other)).toMatchObject({ status: 403, body: { code: "origin_not_allowed" } });
    expect(await typed(other)).toEqual(["", "", ""]);
    await close(other);
  });
});

describe("allowed origins of a credential and a connection", () => {
  const refusal = { status: 403, body: { code: "origin_not_allowed" } };
  const elsewhere = "https://shop.example";
  const change = (path: string, allowed_origins: string[] | null) => made("PATCH", path, { allowed_origins });

  // CREDENTIAL-17, FILL-42
  test("of the credential hold for an item without any, and a change holds at the next fill", async () => {
    const shop = await newShop();
    const tab = await open(shop.vault);
    await change(`/credentials/${shop.credential}`, [elsewhere]);
    expect(await fill(shop.item, tab)).toMatchObject(refusal);
    expect(await typed(tab)).toEqual(["", "", ""]);
    await change(`/credentials/${shop.credential}`, [elsewhere, siteUrl]);
    expect(await fill(shop.item, tab)).toMatchObject({ status: 200, body: { status: "completed" } });
    await change(`/credentials/${shop.credential}`, [elsewhere]);
    expect(await fill(shop.item, tab)).toMatchObject(refusal);
    await change(`/credentials/${shop.credential}`, null);
    expect(await fill(shop.item, tab)).toMatchObject({ status: 200, body: { status: "completed" } });
    await close(tab);
  });

  // CONNECTION-22, FILL-42
  test("of the connection hold for its items, and can be removed", async () => {
    const shop = await newShop({}, undefined, { connection: { allowed_origins: [elsewhere] } });
    const tab = await open(shop.vault);
    expect(await fill(shop.item, tab)).toMatchObject(refusal);
    expect(await typed(tab)).toEqual(["", "", ""]);
    await change(`/auth/connections/${shop.connection}`, null);
    expect(await fill(shop.item, tab)).toMatchObject({ status: 200, body: { status: "completed" } });
    await close(tab);
  });

  // ITEM-38, FILL-42
  test("leave an item that was wider before only what they have in common, be it nothing", async () => {
    const shop = await newShop({ allowed_origins: [siteUrl, elsewhere] });
    const tab = await open(shop.vault);
    await change(`/auth/connections/${shop.connection}`, [siteUrl]);
    expect(await fill(shop.item, tab)).toMatchObject({ status: 200, body: { status: "completed" } });
    await tab.page.reload();
    await change(`/credentials/${shop.credential}`, [elsewhere]);
    expect(await fill(shop.item, tab)).toMatchObject(refusal);
    expect(await typed(tab)).toEqual(["", "", ""]);
    await close(tab);
  });

  // CREDENTIAL-17, FILL-42
  test("hold for the credential that a connection is linked to now", async () => {
    const [shop, other] = [
      await newShop(),
      await newShop({}, undefined, { credential: { allowed_origins: [elsewhere] } }),
    ];
    const tab = await open(shop.vault);
    await made("PATCH", `/auth/connections/${shop.connection}`, { credential: { name: other.credential } });
    expect(await fill(shop.item, tab)).toMatchObject(refusal);
    expect(await typed(tab)).toEqual(["", "", ""]);
    await close(tab);
  });
});

describe("isolation of projects", () => {
  // VAULT-11, VAULT-14, FILL-2
  test("a browser, a vault and a connection of different projects can't be combined", async () => {
    const { id: project } = await made("POST", "/org/projects", { name: `p-${newId()}` });
    const there = { "x-kernel-project-id": project };
    const [own, others] = [await newShop(), await newShop({}, there)];
    const tab = await open(own.vault);
    expect((await fill(others.item, tab)).status).toBe(404);
    const body = { type: "fill", browser_id: tab.session, fields: [binding.password] };
    expect((await call("POST", `${others.item}/operations`, body, there)).status).toBe(404);
    const attach = await call("POST", "/browsers", { headless: true, vaults: [{ id: others.vault }] });
    expect([attach.status, attach.body.details[0].path]).toEqual([404, "vaults[0].id"]);
    await close(tab);
  });
});

describe("an item whose parts are gone", () => {
  // ITEM-7, FILL-5
  test.each<[string, (shop: Shop) => Promise<unknown>]>([
    ["its credential", ({ credential }) => call("DELETE", `/credentials/${credential}`)],
    ["its connection", ({ connection }) => call("DELETE", `/auth/connections/${connection}`)],
    [
      "its Secret, by hand",
      async ({ credential }) => {
        const { id } = (await call("GET", `/credentials/${credential}`)).body;
        const found = (await stack.kube.get(credentialKind, { namespace: stack.namespace, name: id })) as
          | { spec: { secretRef: { name: string } } }
          | undefined;
        await stack.kube.delete(secrets, { namespace: stack.namespace, name: found?.spec.secretRef.name ?? "" });
      },
    ],
  ])("%s: 409 item_unavailable, and nothing is written", async (_, remove) => {
    const shop = await newShop();
    const tab = await open(shop.vault);
    await remove(shop);
    expect(await fill(shop.item, tab)).toMatchObject({ status: 409, body: { code: "item_unavailable" } });
    expect(await typed(tab)).toEqual(["", "", ""]);
    await close(tab);
  });

  // VAULT-12, FILL-4
  test("a vault that was created again under the attached vault's id is not attached", async () => {
    const name = `vault-${newId()}`;
    const ref = { namespace: stack.namespace, name };
    const make = () => stack.kube.create(vaultKind, { metadata: ref, spec: { name } } as never);
    await make();
    const tab = await open(name);
    await stack.kube.delete(vaultKind, ref);
    await eventually("it is gone", async () => (await stack.kube.get(vaultKind, ref)) === undefined);
    await sleep(1100); // creation times are whole seconds
    await make();
    const { connection } = await newShop();
    const item = `/vaults/${name}/items/login`;
    await made("PUT", item, { type: "credential", spec: { provider: "managed_auth", connection_id: connection } });
    expect(await fill(item, tab)).toMatchObject({ status: 403, body: { code: "vault_not_attached" } });
    await close(tab);
  });
});

describe("in the middle of a fill", () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await newShop();
  });
  const fields = [binding.username, binding.password];
  // FILL-27, FILL-30
  test("when its browser is destroyed, the current write is unknown, and the rest was not tried", async () => {
    const tab = await open(shop.vault, "/slow");
    const key = nextKey();
    const filling = fill(shop.item, tab, { fields });
    await key;
    const [pod] = (await stack.kube.list(pods, { namespace: stack.namespace })).items.filter(({ metadata }) =>
      metadata.name.startsWith(tab.session),
    );
    const name = pod?.metadata.name ?? "";
    await stack.kube.delete(pods, { namespace: stack.namespace, name }, { gracePeriodSeconds: 1 });
    expect(await filling).toMatchObject({
      status: 200,
      body: {
        status: "unknown",
        fields: [
          { index: 0, status: "unknown" },
          { index: 1, status: "not_attempted" },
        ],
      },
    });
    await tab.browser.disconnect();
    await eventually("its session has ended", async () => {
      const browser = await stack.kube.get(browserKind, { namespace: stack.namespace, name: tab.session });
      return (browser as { status?: { phase?: string } } | undefined)?.status?.phase === "Ended";
    });
  });

  test("when its session ends, nothing more is typed into the browser", async () => {
    const tab = await open(shop.vault, "/slow");
    const key = nextKey();
    const filling = fill(shop.item, tab, { fields });
    await key;
    await call("DELETE", `/browsers/${tab.session}`);
    const { status, body } = await filling;
    expect([status, body.status, body.fields[1].status]).toEqual([200, "unknown", "not_attempted"]);
    await tab.browser.disconnect();
  });

  // FILL-26
  test("a second fill in the same browser is refused, and the first one continues", async () => {
    const tab = await open(shop.vault, "/slow");
    const filling = fill(shop.item, tab, { fields });
    await sleep(1000);
    expect(await fill(shop.item, tab)).toMatchObject({ status: 409, body: { code: "fill_in_progress" } });
    expect(await filling).toMatchObject({ status: 200, body: { status: "completed" } });
    await close(tab);
  });

  // FILL-7, FILL-30
  test("when its time is up, it answers so, within its time", async () => {
    const tab = await open(shop.vault, "/slow");
    const { status, body } = await fill(shop.item, tab, { fields, timeout_ms: 1000 });
    expect([status, body.status, body.fields[1].status]).toEqual([200, "unknown", "not_attempted"]);
    await close(tab);
  });

  test("when the item is deleted, the running fill completes, and no new one can begin", async () => {
    const other = await newShop();
    const tab = await open(other.vault, "/slow");
    const key = nextKey();
    const filling = fill(other.item, tab, { fields });
    await key;
    await call("DELETE", other.item);
    expect(await filling).toMatchObject({ status: 200, body: { status: "completed" } });
    expect((await fill(other.item, tab)).status).toBe(404);
    await close(tab);
  });

  test.each([redisServerName(), "kube-apiserver"])(
    "when %s stops answering, the running fill completes with its answer",
    async (name) => {
      const tab = await open(shop.vault, "/slow");
      const key = nextKey();
      const filling = fill(shop.item, tab, { fields });
      await key;
      const { pid } = await processNamed(stack.dataDir, name);
      await freeze(pid);
      try {
        const { status, body } = await filling;
        expect([status, body.status]).toEqual([200, "completed"]);
        const meanwhile = await fill(shop.item, tab, { fields: [binding.password] });
        expect([meanwhile.status, meanwhile.body.code]).toEqual([503, "unavailable"]);
      } finally {
        process.kill(pid, "SIGCONT");
      }
      expect((await typed(tab)).slice(0, 2)).toEqual(["ann", "geheim"]);
      await eventually("all is well again", async () => {
        const after = await fill(shop.item, tab, { fields: [binding.password] });
        return after.status === 200;
      });
      await close(tab);
    },
  );

  test("when its caller hangs up, the browser is free for the next fill", async () => {
    const tab = await open(shop.vault, "/slow");
    const hangUp = new AbortController();
    const key = nextKey();
    const asked = fetch(`${stack.url}${shop.item}/operations`, {
      method: "POST",
      headers: { authorization: `Bearer ${stack.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ type: "fill", browser_id: tab.session, fields }),
      signal: hangUp.signal,
    }).catch(() => "hung up");
    await key;
    hangUp.abort();
    expect(await asked).toBe("hung up");
    const after = await eventually("it can be filled again", async () => {
      const answer = await fill(shop.item, tab, { fields: [binding.password] });
      return answer.status === 200 && answer;
    });
    expect(after.body.status).toBe("completed");
    await close(tab);
  });
});
