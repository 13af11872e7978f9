/** `PATCH /browsers/{id_or_name}` with the public SDK: what it changes in browsers that run. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Kernel from "@onkernel/sdk";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { newId } from "../../src/core/objects/new-id.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { logTexts } from "../support/log-files.ts";
import { profileThatVisited } from "../support/profile-archive.ts";
import { sdkRefusal } from "../support/refused-request.ts";
import { saveVersion } from "../support/saved-profile.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { visit } from "../support/visit.ts";
import { ownAddress } from "../support/wall/machine.ts";
import { startTestParent, type TestParent } from "../support/wall/parent-proxy.ts";
import { createTestCa } from "../support/wall/test-ca.ts";

let stack: LocalProject;
let kernel: Kernel;
let site: Server;
let sockets: WebSocketServer;
/** The site's name on loopback, which no browser behind a wall reaches, and on the machine's own address. */
let onLoopback: string;
let onMachine: string;

const serve = (request: IncomingMessage, response: ServerResponse): void => {
  if (request.url === "/login") response.setHeader("Set-Cookie", "login=1; Max-Age=86400; Path=/");
  response.setHeader("Content-Type", "text/html");
  // Never over.
  if (request.url === "/stream") return void response.write("begun");
  response.end(request.headers.cookie ?? "none");
};

beforeAll(async () => {
  stack = await startProject();
  kernel = new Kernel({ baseURL: stack.url, apiKey: stack.api_key, maxRetries: 0 });
  site = createServer(serve);
  sockets = new WebSocketServer({ server: site });
  await new Promise<void>((resolve) => site.listen(0, resolve));
  const { port } = site.address() as AddressInfo;
  onLoopback = `http://127.0.0.1:${port}`;
  onMachine = `http://${ownAddress}:${port}`;
});
afterAll(async () => {
  for (const socket of sockets?.clients ?? []) socket.terminate();
  site?.closeAllConnections();
  site?.close();
  await stack?.[Symbol.asyncDispose]();
});

const fresh = (): string => `n-${newId()}`;
const connect = (session: { cdp_ws_url: string }): Promise<Browser> =>
  puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
const acquire = (pool: string) => kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
const podNames = async (pool: string): Promise<string[]> =>
  (await stack.kube.list(pods, { namespace: stack.namespace })).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith(pool));

/** A profile that is logged in at the site, on loopback and on the machine's address. */
const newProfile = async (url = onLoopback): Promise<{ id: string; name: string }> => {
  const name = fresh();
  const { id } = await kernel.profiles.create({ name });
  const archive = await profileThatVisited(`${url}/login`);
  await saveVersion(id, archive, stack);
  return { id, name };
};

const newProxy = async ({ port }: TestParent, config: object = {}): Promise<string> => {
  const proxy = await kernel.proxies.create({
    type: "custom",
    protocol: "http",
    config: { host: ownAddress, port, ...config } as never,
  });
  return proxy.id ?? "";
};

const sizesOf = (page: Page): Promise<unknown> =>
  page.evaluate("({ inner: [innerWidth, innerHeight], screen: [screen.width, screen.height] })");

describe("a viewport", () => {
  // BROWSER-24
  test("holds in the pages of an on-demand browser, and in the answer", async () => {
    const session = await kernel.browsers.create({ headless: true, viewport: { width: 1024, height: 768 } });
    const client = await connect(session);
    const [page] = (await client.pages()) as [Page];
    const viewport = { width: 640, height: 480 };
    const answer = await kernel.browsers.update(session.session_id, { viewport: { ...viewport, force: true } });
    expect(answer.viewport).toEqual({ ...viewport, refresh_rate: 60 });
    await expect.poll(() => sizesOf(page)).toEqual({ inner: [640, 480], screen: [640, 480] });
    expect(await sizesOf(await client.newPage())).toEqual({ inner: [640, 480], screen: [640, 480] });
    expect((await kernel.browsers.retrieve(session.session_id)).viewport).toEqual(answer.viewport);
    await client.disconnect();
    await kernel.browsers.deleteByID(session.session_id);
  });

  // BROWSER-24, BROWSER-25, BROWSER-28, BROWSER-29
  test.each(["keep", "reset"] as const)(
    "of a pool's headful browser does not reach the next holder, with the reuse policy %s",
    async (reuse_policy) => {
      const viewport = { width: 1024, height: 768 };
      const pool = await filledPool(kernel, { headless: false, viewport, reuse_policy });
      const session = await acquire(pool.id);
      const before = await podNames(pool.id);
      const client = await connect(session);
      const [page] = (await client.pages()) as [Page];
      await kernel.browsers.update(session.session_id, { viewport: { width: 800, height: 600 } });
      await expect.poll(async () => sizesOf(page)).toMatchObject({ screen: [800, 600] });
      // Of a request that is refused nothing holds, its name neither.
      const larger = { name: fresh(), viewport: { width: 1025, height: 768 } };
      await expect(kernel.browsers.update(session.session_id, larger)).rejects.toMatchObject(
        sdkRefusal(409, "conflict", "viewport: the screen"),
      );
      await expect(kernel.browsers.retrieve(larger.name)).rejects.toMatchObject({ status: 404 });
      const other = await kernel.browsers.create({ headless: true, name: larger.name });
      await kernel.browsers.deleteByID(other.session_id);
      await client.disconnect();

      await kernel.browserPools.release(pool.id, { session_id: session.session_id });
      const next = await acquire(pool.id);
      expect(await podNames(pool.id)).toEqual(before);
      expect(next.viewport).toEqual({ ...viewport, refresh_rate: 60 });
      const second = await connect(next);
      const [first] = (await second.pages()) as [Page];
      await expect.poll(() => sizesOf(first)).toMatchObject({ screen: [1024, 768] });
      await second.disconnect();
      await kernel.browserPools.delete(pool.id, { force: true });
    },
  );
});

describe("a profile", () => {
  // PROFILE-25
  test.each([true, false])("is loaded into a browser that runs, headless: %s", async (headless) => {
    const { id, name } = await newProfile();
    const session = await kernel.browsers.create({ headless, timeout_seconds: 60 });
    const client = await connect(session);
    const cut = new Promise((resolve) => client.once("disconnected", resolve));
    const [page] = (await client.pages()) as [Page];
    await page.goto(onLoopback);
    await page.evaluate(`document.cookie = "own=1"`);
    const renamed = fresh();
    const answer = await kernel.browsers.update(session.session_id, { profile: { name }, name: renamed });
    await cut;
    expect(answer).toMatchObject({ profile: { id }, name: renamed, session_id: session.session_id });
    expect(await visit(session.cdp_ws_url, onLoopback)).toMatchObject({ text: "login=1" });

    const other = await kernel.profiles.create({ name: fresh() });
    await expect(kernel.browsers.update(renamed, { profile: { id: other.id } })).rejects.toMatchObject(
      sdkRefusal(409, "conflict", `the profile ${id} already`),
    );
    await expect(kernel.profiles.delete(id)).rejects.toMatchObject(sdkRefusal(409, "conflict", renamed));
    await kernel.browsers.deleteByID(renamed);
    await eventually("the profile is free", () =>
      kernel.profiles.delete(id).then(
        () => true,
        () => false,
      ),
    );
  });

  // PROFILE-25, BROWSER-28
  test.each(["keep", "reset"] as const)(
    "is not there for a pool's next holder, with the reuse policy %s",
    async (reuse_policy) => {
      const { id, name } = await newProfile();
      const pool = await filledPool(kernel, { reuse_policy });
      const session = await acquire(pool.id);
      const before = await podNames(pool.id);
      expect(await kernel.browsers.update(session.session_id, { profile: { id } })).toMatchObject({ profile: { id } });
      expect(await visit(session.cdp_ws_url, onLoopback)).toMatchObject({ text: "login=1" });
      await kernel.browserPools.release(pool.id, { session_id: session.session_id });
      const next = await acquire(pool.id);
      expect(await podNames(pool.id)).toEqual(before);
      expect(next).not.toHaveProperty("profile");
      expect(await visit(next.cdp_ws_url, onLoopback)).toMatchObject({ text: "none" });
      const ended = await kernel.browsers.retrieve(session.session_id, { include_deleted: true });
      expect(ended.profile).toMatchObject({ id, name });
      await kernel.browserPools.delete(pool.id, { force: true });
      await kernel.profiles.delete(name);
    },
  );

  // PROFILE-25
  test("that nothing was saved in is an empty one, and a pool's own is not replaced", async () => {
    const { id } = await kernel.profiles.create({ name: fresh() });
    const session = await kernel.browsers.create({ headless: true });
    expect(await visit(session.cdp_ws_url, `${onLoopback}/login`)).toMatchObject({ text: "none" });
    expect(await visit(session.cdp_ws_url, onLoopback)).toMatchObject({ text: "login=1" });
    await kernel.browsers.update(session.session_id, { profile: { id } });
    expect(await visit(session.cdp_ws_url, onLoopback)).toMatchObject({ text: "none" });
    await kernel.browsers.deleteByID(session.session_id);

    const own = await kernel.browsers.create({ headless: true, profile: { id } });
    await expect(kernel.browsers.update(own.session_id, { profile: { id } })).rejects.toMatchObject(
      sdkRefusal(409, "conflict", `the profile ${id} already`),
    );
    await kernel.browsers.deleteByID(own.session_id);
  });
});

describe("a start URL", () => {
  // BROWSER-32
  test("is opened by a request that is carried out, alone or with a change, and not by one that is refused", async () => {
    const session = await kernel.browsers.create({ headless: true });
    const client = await connect(session);
    const [page] = (await client.pages()) as [Page];
    const update = (body: object) => kernel.browsers.update(session.session_id, body);
    await update({ start_url: `${onLoopback}/alone` });
    await expect.poll(() => page.url()).toBe(`${onLoopback}/alone`);
    await update({ start_url: `${onLoopback}/with`, viewport: { width: 640, height: 480 } });
    await expect.poll(() => page.url()).toBe(`${onLoopback}/with`);
    await update({ start_url: "", name: fresh() });
    await expect(update({ start_url: "file:///etc/passwd" })).rejects.toMatchObject({ status: 400 });
    const refused = { start_url: `${onLoopback}/refused`, profile: { id: newId() } };
    await expect(update(refused)).rejects.toMatchObject({ status: 404 });
    await page.evaluate("1");
    expect(page.url()).toBe(`${onLoopback}/with`);
    await client.disconnect();
    await kernel.browsers.deleteByID(session.session_id);
  });
});

describe("a proxy", () => {
  // PROXY-20, BROWSER-32
  test("takes the traffic of a walled browser from now on, and open connections are cut", async () => {
    await using first = await startTestParent();
    await using second = await startTestParent();
    const [one, two] = [await newProxy(first), await newProxy(second)];
    const session = await kernel.browsers.create({ headless: true, proxy_id: one, timeout_seconds: 60 });
    const client = await connect(session);
    const [page] = (await client.pages()) as [Page];
    await page.goto(onMachine);
    // A request and a tunnel that are never over by themselves.
    await page.evaluate(`(async () => {
      const response = await fetch("/stream");
      globalThis.stream = response.text().then(() => "whole", () => "cut");
      const socket = new WebSocket(location.href.replace("http", "ws"));
      globalThis.socket = new Promise((resolve) => (socket.onclose = () => resolve("cut")));
      await new Promise((resolve) => (socket.onopen = resolve));
    })()`);
    expect(first.asked).toContain(`GET ${onMachine}/stream`);
    expect(first.asked).toContain(`CONNECT ${new URL(onMachine).host}`);

    expect(await kernel.browsers.update(session.session_id, { proxy_id: two })).toMatchObject({ proxy_id: two });
    expect(await page.evaluate("Promise.all([stream, socket])")).toEqual(["cut", "cut"]);
    const soFar = first.asked.length;
    expect(await visit(session.cdp_ws_url, `${onMachine}/a`)).toMatchObject({ text: "none" });
    expect(second.asked).toContain(`GET ${onMachine}/a`);

    const withoutProxy = [
      { proxy_id: "" },
      { proxy_id: null },
      { proxy: { mode: "direct" } },
      { proxy: { mode: "default" } },
    ];
    for (const none of withoutProxy) {
      await kernel.browsers.update(session.session_id, { proxy: { id: two } } as object);
      const answer = await kernel.browsers.update(session.session_id, none as object);
      expect(answer).not.toHaveProperty("proxy_id");
      expect(await visit(session.cdp_ws_url, `${onMachine}/b`)).toMatchObject({ text: "none" });
    }
    expect(second.asked).not.toContain(`GET ${onMachine}/b`);
    expect(first.asked.length).toBe(soFar);
    // Nothing has started anew.
    expect(client.connected).toBe(true);
    await client.disconnect();
    await kernel.browsers.deleteByID(session.session_id);
  });

  // PROXY-20, PROXY-12, BROWSER-28
  test.each(["keep", "reset"] as const)(
    "gives a pool's browser a wall, which its next holder does not find, with the reuse policy %s",
    async (reuse_policy) => {
      const password = newId();
      await using parent = await startTestParent({ credentials: `user:${password}` });
      const proxy = await newProxy(parent, { username: "user", password });
      const pool = await filledPool(kernel, { reuse_policy });
      const session = await acquire(pool.id);
      const before = await podNames(pool.id);
      expect(await visit(session.cdp_ws_url, onLoopback)).toMatchObject({ text: "none" });
      expect(await kernel.browsers.update(session.session_id, { proxy_id: proxy })).toMatchObject({ proxy_id: proxy });
      expect(await visit(session.cdp_ws_url, `${onMachine}/walled`)).toMatchObject({ text: "none" });
      expect(parent.asked).toContain(`GET ${onMachine}/walled`);
      expect((await visit(session.cdp_ws_url, onLoopback)).text).not.toBe("none");
      await expect(kernel.proxies.delete(proxy)).rejects.toMatchObject({ status: 409 });

      await kernel.browserPools.release(pool.id, { session_id: session.session_id });
      const next = await acquire(pool.id);
      expect(await podNames(pool.id)).toEqual(before);
      expect(next).not.toHaveProperty("proxy_id");
      expect(await visit(next.cdp_ws_url, onLoopback)).toMatchObject({ text: "none" });
      const asked = parent.asked.length;
      expect(await visit(next.cdp_ws_url, `${onMachine}/next`)).toMatchObject({ text: "none" });
      expect(parent.asked.length).toBe(asked);
      await kernel.browserPools.delete(pool.id, { force: true });
      await kernel.proxies.delete(proxy);
      expect((await logTexts(stack.dataDir)).some((text) => text.includes(password))).toBe(false);
    },
  );

  // PROXY-20
  test("with a ca_bundle is trusted by the browser that starts anew for it, and a route of the pool stays", async () => {
    await using ca = await createTestCa();
    const terminate = await ca.issue(["secure.test", "routed.test"]);
    await using parent = await startTestParent({ terminate });
    await using route = await startTestParent({ terminate });
    const bundle = { ca_bundle: ca.certificate };
    const [proxy, routed] = [await newProxy(parent, bundle), await newProxy(route)];
    const session = await kernel.browsers.create({
      headless: true,
      timeout_seconds: 60,
      // The SDK does not know this field yet.
      ...{ network: { proxy_routes: [{ hosts: ["routed.test"], proxy: { id: routed } }] } },
    });
    await kernel.browsers.update(session.session_id, { proxy_id: proxy });
    expect(await visit(session.cdp_ws_url, "https://secure.test/")).toMatchObject({ text: "answered by the proxy" });
    expect(await visit(session.cdp_ws_url, "https://routed.test/")).toMatchObject({ text: "answered by the proxy" });
    expect(route.asked).toContain("INSIDE GET routed.test/");
    expect(parent.asked).not.toContain("CONNECT routed.test:443");
    await kernel.browsers.deleteByID(session.session_id);
  });
});

describe("a request", () => {
  // BROWSER-29
  test("changes everything at once: profile, proxy, viewport, name and tags", async () => {
    await using parent = await startTestParent();
    const proxy = await newProxy(parent);
    const { id, name } = await newProfile(onMachine);
    const session = await kernel.browsers.create({ headless: false, viewport: { width: 800, height: 600 } });
    // A screen that starts anew takes any size.
    const wanted = {
      profile: { name },
      proxy_id: proxy,
      name: fresh(),
      tags: { a: "1" },
      viewport: { width: 1000, height: 700 },
    };
    const answer = await kernel.browsers.update(session.session_id, wanted);
    expect(answer).toMatchObject({ ...wanted, profile: { id } });
    expect(await visit(session.cdp_ws_url, `${onMachine}/all`)).toMatchObject({ text: "login=1" });
    expect(parent.asked).toContain(`GET ${onMachine}/all`);
    const client = await connect(session);
    const [page] = (await client.pages()) as [Page];
    expect(await sizesOf(page)).toMatchObject({ screen: [1000, 700] });
    await client.disconnect();
    await kernel.browsers.deleteByID(session.session_id);
  });

  // BROWSER-29
  test("and others at the same time are carried out one after the other: the answer of the last one holds", async () => {
    const session = await kernel.browsers.create({ headless: true });
    const widths = [500, 600, 700, 800, 900];
    await Promise.all(
      widths.map((width) => kernel.browsers.update(session.session_id, { viewport: { width, height: 480 } })),
    );
    const { viewport } = await kernel.browsers.retrieve(session.session_id);
    const client = await connect(session);
    const [page] = (await client.pages()) as [Page];
    await expect.poll(() => sizesOf(page)).toMatchObject({ inner: [viewport?.width, 480] });
    await client.disconnect();
    await kernel.browsers.deleteByID(session.session_id);
  });
});
