/**
 * What telemetry tells of large messages, of workers and of redirects: agents with a real Chromium of each kind, and a
 * site.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { type ReadTelemetry, readTelemetry } from "../../../support/read-telemetry.ts";

const agents = createTestAgents();
const stack = new AsyncDisposableStack();
stack.use(agents);
let site: string;

/** By path: scripts of workers ask for a path of their own. */
const scripts: Record<string, string> = {
  "/dedicated.js": `console.log("dedicated line"); fetch("/api/dedicated"); setTimeout(() => { throw new Error("dedicated fails") }); new Worker("/nested.js")`,
  "/nested.js": `fetch("/api/nested")`,
  "/shared.js": `fetch("/api/shared")`,
  "/service.js": `addEventListener("install", () => skipWaiting()); addEventListener("activate", (e) => e.waitUntil(fetch("/api/service")))`,
};
const redirects: Record<string, [number, string]> = { "/old": [301, "/between"], "/between": [302, "/api/new"] };

beforeAll(async () => {
  const server = createServer(({ url = "" }, response) => {
    const [status, location] = redirects[url] ?? [];
    if (status) return void response.writeHead(status, { location }).end();
    if (scripts[url]) return void response.setHeader("content-type", "text/javascript").end(scripts[url]);
    response.setHeader("content-type", "text/html").end(url.startsWith("/api") ? "ok" : "<title>site</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(() => void server.close());
  stack.defer(() => server.closeAllConnections());
  site = `http://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => stack.disposeAsync());

const telemetry = { enabled: true, browser: { console: { enabled: true }, network: { enabled: true } } };

describe.each([
  ["headless", { headless: true }],
  ["headless, stealth", { headless: true, stealth: true }],
])("%s", (name, kind) => {
  let agent: TestAgent;
  let browser: Browser;
  let tab: Page;
  let read: ReadTelemetry;
  beforeAll(async () => {
    agent = await agents.start({ ...kind, telemetry });
    await agent.bind(name, 1);
    read = await readTelemetry(agent, encodeURIComponent(name));
    browser = await agent.connect(name);
    tab = await browser.newPage();
    await tab.goto(site);
  }, 120_000);
  afterAll(() => browser?.disconnect());

  const asked = (url: string) =>
    read.until(
      `the answer of ${url}`,
      ({ type, data }) => type === "network_response" && data?.url === `${site}${url}`,
    );

  // TELEMETRY-36
  test("a message that is too large is counted and told, and what follows is told as ever", async () => {
    const large = 17 * 1024 * 1024;
    await tab.evaluate(
      `console.log("x".repeat(${large})); setTimeout(() => { throw new Error("y".repeat(${large})) })`,
    );
    const counted = async (): Promise<number> => {
      const all = read.records.filter(({ event: { data } }) => data?.reason === "too_large");
      return all.reduce((sum, { event }) => sum + Number(event.data?.count), 0);
    };
    await read.until(
      "what was left out",
      ({ type, data }) => type === "monitor_events_dropped" && data?.reason === "too_large",
    );
    await tab.evaluate(`console.log("after it")`);
    await tab.evaluate(() => fetch("/api/after"));
    await read.until("a line", ({ type, data }) => type === "console_log" && data?.text === "after it");
    await asked("/api/after");
    await expect.poll(counted, { timeout: 20_000 }).toBeGreaterThanOrEqual(2);
    expect(read.records.some(({ event: { type } }) => type === "monitor_disconnected")).toBe(false);
  });

  // TELEMETRY-37
  test("requests and lines of workers are told from their first on", async () => {
    await tab.evaluate(`(async () => {
      new Worker("/dedicated.js");
      new SharedWorker("/shared.js");
      await navigator.serviceWorker.register("/service.js");
      await navigator.serviceWorker.ready;
    })()`);
    expect((await asked("/api/dedicated")).data).toMatchObject({
      status: 200,
      target_type: "other",
      url: expect.any(String),
    });
    expect((await asked("/api/shared")).data).toMatchObject({ status: 200, target_type: "shared_worker" });
    expect((await asked("/api/service")).data).toMatchObject({ status: 200, target_type: "service_worker" });
    await asked("/api/nested");
    await read.until("a line", ({ type, data }) => type === "console_log" && data?.text === "dedicated line");
    await read.until("an exception", ({ data }) => String(data?.text).includes("dedicated fails"));
  });

  // TELEMETRY-37
  test("each answer of a chain of redirects is told, with its status", async () => {
    await tab.evaluate(() => fetch("/old"));
    await asked("/api/new");
    const chain = read.records.flatMap(({ event: { type, data } }) =>
      type === "network_response" && /\/(old|between|api\/new)$/.test(String(data?.url)) ? [data?.status] : [],
    );
    expect(chain).toEqual([301, 302, 200]);
  });
});
