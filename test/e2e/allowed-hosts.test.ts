/** The hosts that a session may reach, changed while its browser runs (NETWORK-16 to NETWORK-19). */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Kernel from "@onkernel/sdk";
import puppeteer, { type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { ownAddress } from "../support/wall/machine.ts";

let stack: LocalProject;
let site: Server;
let sockets: WebSocketServer;
/** The site by two of its hosts. */
let byAddress: string;
let byName: string;

beforeAll(async () => {
  stack = await startProject();
  site = createServer((_, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Content-Type", "text/html");
    response.end("the site");
  });
  sockets = new WebSocketServer({ server: site });
  sockets.on("connection", (socket) => socket.on("message", (data) => socket.send(data)));
  await new Promise<void>((resolve) => site.listen(0, resolve));
  const { port } = site.address() as AddressInfo;
  byAddress = `${ownAddress}:${port}`;
  byName = `localhost:${port}`;
});
afterAll(async () => {
  for (const socket of sockets?.clients ?? []) socket.terminate();
  site?.closeAllConnections();
  site?.close();
  await stack?.[Symbol.asyncDispose]();
});

/** The machine's address may be a private one or not. */
const privateHosts = ["localhost", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];
const network = { allowed_hosts: [ownAddress, "localhost"], private_hosts: privateHosts };

type State = { revision: string; base_revision?: string; mutation_id?: string };
type Session = {
  session_id: string;
  cdp_ws_url: string;
  network?: { allowed_hosts?: string[]; allowlist_state?: State };
  /** Of a pool. */
  browser_pool_config?: { network?: object };
};
type Refusal = { code?: string; message?: string; details?: { path?: string }[] };

const send = async <T = Session>(
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: T & Refusal }> => {
  const response = await stack.call(method, path, body);
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
};

const change = (session: Session, asked: object) =>
  send("PATCH", `/browsers/${session.session_id}`, { network: asked });

const reaches = (page: Page, host: string): Promise<unknown> =>
  page.evaluate(`fetch("http://${host}/").then((answer) => answer.text(), () => "no answer")`);

/** Opens a WebSocket in the page under this name. */
const openSocket = (page: Page, name: string, host: string): Promise<unknown> =>
  page.evaluate(`new Promise((resolve, reject) => {
    window.${name} = new WebSocket("ws://${host}/");
    ${name}.onopen = () => resolve(true);
    ${name}.onerror = () => reject(new Error("it does not open"));
  })`);

const isOpen = (page: Page, name: string): Promise<unknown> => page.evaluate(`${name}.readyState === 1`);

const refused = "the host is not in allowed_hosts";

// NETWORK-16, NETWORK-17, NETWORK-18
test("a list is replaced under open connections, and taken away for good", async () => {
  const { body: session } = await send("POST", "/browsers", { headless: true, network });
  expect(session.network?.allowlist_state).toEqual({ revision: "1" });
  await using browser = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  const page = await browser.newPage();
  await page.goto(`http://${byAddress}/`);
  await openSocket(page, "stays", byAddress);
  await openSocket(page, "goes", byName);
  const narrowed = await change(session, { allowed_hosts: [ownAddress] });
  expect(narrowed.body.network).toMatchObject({ allowed_hosts: [ownAddress], allowlist_state: { revision: "2" } });
  await eventually("the other host's socket is cut", async () => (await isOpen(page, "goes")) === false);
  expect(await isOpen(page, "stays")).toBe(true);
  expect([await reaches(page, byAddress), await reaches(page, byName)]).toEqual([
    "the site",
    expect.not.stringMatching(/site/),
  ]);
  const other = await browser.newPage();
  await other.goto(`http://${byName}/`).catch(() => undefined);
  expect(await other.evaluate("document.body.innerText")).toContain(refused);

  const removed = await change(session, { allowed_hosts: null });
  expect(removed.body.network).toEqual({ private_hosts: network.private_hosts, allowlist_state: { revision: "3" } });
  expect(await reaches(page, byName)).toBe("the site");
  expect(await isOpen(page, "stays")).toBe(true);
  const again = await change(session, { allowed_hosts: [ownAddress] });
  expect([again.status, again.body.code]).toEqual([409, "conflict"]);
  await send("DELETE", `/browsers/${session.session_id}`);
});

// NETWORK-19
test("of two changes that name the same revision, one holds; the same one can be repeated", async () => {
  const { body: session } = await send("POST", "/browsers", { headless: true, network });
  const first = { allowed_hosts: ["a.example"], expected_allowlist_revision: "1", mutation_id: "first" };
  const second = { allowed_hosts: ["b.example"], expected_allowlist_revision: "1", mutation_id: "second" };
  const answers = await Promise.all([change(session, first), change(session, second)]);
  expect(answers.map(({ status, body }) => [status, body.code]).sort()).toEqual([
    [200, undefined],
    [409, "stale_network"],
  ]);
  const [kept] = [first, second].filter((_, index) => answers[index]?.status === 200);
  const state = { revision: "2", base_revision: "1", mutation_id: kept?.mutation_id };
  for (let times = 0; times < 2; times++) {
    const { body } = await change(session, { ...kept });
    expect(body.network).toMatchObject({ allowed_hosts: kept?.allowed_hosts, allowlist_state: state });
  }
  // The same ids with another list are another change.
  expect((await change(session, { ...kept, allowed_hosts: ["c.example"] })).body.code).toBe("stale_network");
  expect((await send("GET", `/browsers/${session.session_id}`)).body.network?.allowlist_state).toEqual(state);
  await send("DELETE", `/browsers/${session.session_id}`);
});

// NETWORK-16
test("the next holder of a pool's browser has the pool's list", async () => {
  const kernel = new Kernel({ baseURL: stack.url, apiKey: stack.api_key, maxRetries: 0 });
  const { id } = await filledPool(kernel, { network });
  const acquire = () => send("POST", `/browser_pools/${id}/acquire`, { acquire_timeout_seconds: 60 });
  const { body: first } = await acquire();
  expect((await change(first, { allowed_hosts: ["a.example"] })).status).toBe(200);
  await send("POST", `/browser_pools/${id}/release`, { session_id: first.session_id });
  const { body: next } = await acquire();
  expect(next.network).toMatchObject({ ...network, allowlist_state: { revision: "1" } });
  await using browser = await puppeteer.connect({ browserWSEndpoint: next.cdp_ws_url, defaultViewport: null });
  const page = await browser.newPage();
  await page.goto(`http://${byAddress}/`);
  expect(await page.evaluate("document.body.innerText")).toBe("the site");
});

// NETWORK-18
const long = Array.from({ length: 60 }, (_, at) => `${"long".repeat(40)}-${at}.example`);
test.each<[string, object, string]>([
  ["no host", { allowed_hosts: [] }, "network.allowed_hosts"],
  ["what is no host", { allowed_hosts: ["https://a.example"] }, "network.allowed_hosts[0]"],
  ["a list that is too long", { allowed_hosts: long }, "network.allowed_hosts"],
  ["an id without a revision", { allowed_hosts: ["a.example"], mutation_id: "m" }, "network.mutation_id"],
  ["a condition of nothing", { expected_allowlist_revision: "1", mutation_id: "m" }, "network.allowed_hosts"],
  ["private hosts", { private_hosts: ["10.0.0.1"] }, "network.private_hosts"],
  ["routes", { proxy_routes: [] }, "network.proxy_routes"],
])("%s is refused by name, and changes nothing", async (_what, asked, path) => {
  const { body: session } = await send("POST", "/browsers", { headless: true, network });
  const answer = await change(session, asked);
  expect([answer.status, answer.body.details?.[0]?.path]).toEqual([400, path]);
  const { body: after } = await send("GET", `/browsers/${session.session_id}`);
  expect(after.network?.allowlist_state).toEqual({ revision: "1" });
  await send("DELETE", `/browsers/${session.session_id}`);
});

// NETWORK-18
test("a browser that was made without a list gets none", async () => {
  const { body: session } = await send("POST", "/browsers", { headless: true });
  const { status, body } = await change(session, { allowed_hosts: ["a.example"] });
  expect([status, body.message]).toEqual([409, expect.stringContaining("made without such a list")]);
  await send("DELETE", `/browsers/${session.session_id}`);
});

// NETWORK-20
test("a pool changes under the condition that its network is as expected", async () => {
  const { body: pool } = await send<{ id: string }>("POST", "/browser_pools", {
    size: 1,
    fill_rate_per_minute: 0,
    network,
  });
  const patch = (expected: object, hosts: string[]) =>
    send("PATCH", `/browser_pools/${pool.id}`, { expected_network: expected, network: { allowed_hosts: hosts } });
  expect((await patch({}, ["a.example"])).body.code).toBe("stale_network");
  expect((await patch({ allowed_hosts: network.allowed_hosts }, ["a.example"])).body.code).toBe("stale_network");
  const { status, body } = await patch(network, ["a.example"]);
  expect([status, body.browser_pool_config?.network]).toEqual([200, { allowed_hosts: ["a.example"] }]);
  expect((await patch(network, ["b.example"])).body.code).toBe("stale_network");
  await send("DELETE", `/browser_pools/${pool.id}`);
});
