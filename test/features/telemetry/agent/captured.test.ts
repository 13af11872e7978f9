/** What an agent captures of a session: a real agent, a real Chromium, a site, and a client by CDP. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { telemetryCategories } from "../../../../src/core/model/settings/telemetry.ts";
import { sessionHeader } from "../../../../src/core/protocol/agent-api.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { connectCdp } from "../../../../src/platform/cdp/cdp-connection.ts";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { type ReadTelemetry, readTelemetry } from "../../../support/read-telemetry.ts";
import { devToolsOf } from "../../../support/visited-agent.ts";

const agents = createTestAgents();
const stack = new AsyncDisposableStack();
stack.use(agents);

const page = `<!doctype html><title>shop</title><body style="height: 3000px">
<input id="login"><button id="buy">Buy</button>
<script>console.log("first line", 7); fetch("/api", { headers: { authorization: "Bearer s3cret-of-page" } })</script>`;

const moving = `<!doctype html><title>moving</title><p id="large" style="font-size: 60px">Words of a size that is seen</p>
<script>setTimeout(() => document.body.prepend(Object.assign(document.createElement("div"), { style: "height: 300px" })), 300)</script>`;

const serve = (): Server =>
  createServer((request, response) => {
    if (request.url === "/broken") return void request.socket.destroy();
    if (request.url === "/api")
      return void response.setHeader("set-cookie", "sid=c00kie-of-page").end("x".repeat(5000));
    response.setHeader("content-type", "text/html").end(request.url === "/moving" ? moving : page);
  });

const all = {
  enabled: true,
  browser: Object.fromEntries(telemetryCategories.map((name) => [name, { enabled: true }])),
};

let site: string;
let agent: TestAgent;
let seq = 0;

beforeAll(async () => {
  const server = serve();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(() => void server.close());
  stack.defer(() => server.closeAllConnections());
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  agent = await agents.start({ headless: true, telemetry: { enabled: true } });
});
afterAll(() => stack.disposeAsync());

type Held = { name: string; browser: Browser; tab: Page; read: ReadTelemetry };

const hold = async (telemetry?: object): Promise<Held> => {
  seq += 1;
  const name = `session-${seq}`;
  await agent.bind(name, seq, telemetry && { telemetry: telemetry as never });
  const read = await readTelemetry(agent, name);
  const browser = await agent.connect(name);
  return { name, browser, tab: await browser.newPage(), read };
};
const release = async ({ name, browser }: Held): Promise<void> => {
  await browser.disconnect();
  await agent.release(name, seq, "reset");
  await agent.call("GET", "/reset");
};

// TELEMETRY-8, TELEMETRY-14, TELEMETRY-16
test("a visit is told from its first request and its first line on", async () => {
  const held = await hold(all);
  const { tab, read } = held;
  await tab.goto(`${site}/shop?x=1`);
  await tab.evaluate(() => fetch("/broken").catch(() => undefined));
  await tab.evaluate(() => {
    setTimeout(() => {
      throw new Error("not caught");
    });
  });
  await tab.click("#buy");
  await tab.focus("#login");
  await tab.keyboard.type("Tr0ub4dor");
  await tab.keyboard.press("Enter");
  await tab.evaluate("scrollTo(0, 500)");

  const line = await read.until("a console line", ({ type }) => type === "console_log");
  expect(line).toMatchObject({
    category: "console",
    source: { kind: "cdp", event: "Runtime.consoleAPICalled" },
    data: {
      text: "first line 7",
      args: ["first line", "7"],
      level: "log",
      url: `${site}/shop?x=1`,
      target_type: "page",
    },
  });
  const first = await read.until(
    "the page's request",
    ({ type, data }) => type === "network_request" && data?.resource_type === "Document",
  );
  expect(first.data).toMatchObject({ method: "GET", url: `${site}/shop?x=1` });
  expect(Math.abs(first.ts / 1000 - Date.now())).toBeLessThan(600_000);
  const failed = await read.until(
    "a failed request",
    ({ type, data }) => type === "network_loading_failed" && data?.url === `${site}/broken`,
  );
  expect(failed.data).toMatchObject({ error_text: expect.stringContaining("net::"), canceled: false });
  const whole = await read.until(
    "an answer that is whole",
    ({ type, data }) => type === "network_loading_finished" && data?.url === `${site}/api`,
  );
  expect(whole.data).toMatchObject({ encoded_bytes: expect.any(Number), duration_ms: expect.any(Number) });
  expect(Number(whole.data?.encoded_bytes)).toBeGreaterThan(5000);
  const answer = await read.until(
    "its head",
    ({ type, data }) => type === "network_response" && data?.url === `${site}/api`,
  );
  expect(answer.data).toMatchObject({ status: 200, method: "GET", resource_type: "Fetch" });
  await read.until(
    "an exception",
    ({ type, data }) => type === "console_error" && String(data?.text).includes("not caught"),
  );
  await read.until("a navigation", ({ type, data }) => type === "page_navigation" && data?.url === `${site}/shop?x=1`);
  await read.until("a parsed document", ({ type }) => type === "page_dom_content_loaded");
  await read.until("a loaded page", ({ type }) => type === "page_load");
  await read.until("a new tab", ({ type }) => type === "page_tab_opened");
  expect((await read.until("a click", ({ type }) => type === "interaction_click")).data).toMatchObject({
    tag: "button",
  });
  const key = await read.until(
    "a named key",
    ({ type, data }) => type === "interaction_key" && data?.key !== undefined,
  );
  expect(key.data).toMatchObject({ tag: "input[type=text]", key: "Enter" });
  await read.until("scrolling", ({ type, data }) => type === "interaction_scroll_settled" && data?.to_y === 500);
  await read.until("a command", ({ type, data }) => type === "cdp_command" && data?.method === "Page.navigate");
  await read.until("a client", ({ type }) => type === "cdp_connect");
  await read.until("memory", ({ type, data }) => type === "system_usage" && Number(data?.memory_bytes) > 10_000_000);
  const shot = await read.until("a picture", ({ type }) => type === "monitor_screenshot");
  expect(Buffer.from(String(shot.data?.png), "base64").subarray(1, 4).toString()).toBe("PNG");

  await release(held);
  await read.ended;
  await read.until(
    "the client is gone",
    ({ type, data }) => type === "cdp_disconnect" && Number(data?.message_count) > 5,
  );
  expect(read.records.map((record) => record.seq)).toEqual(read.records.map((_, index) => index + 1));
  const text = JSON.stringify(read.records);
  for (const kept of ["s3cret-of-page", "c00kie-of-page", "Tr0ub4dor", '"key":"T"']) expect(text).not.toContain(kept);
});

// TELEMETRY-38
test("a page is told to come to rest, and to crash", async () => {
  const held = await hold(all);
  const { tab, read } = held;
  const target_id = (tab.target() as unknown as { _targetId: string })._targetId;
  await tab.goto(`${site}/moving`);
  const shift = await read.until("a shift", ({ type }) => type === "page_layout_shift");
  const moved = shift.data?.layout_shift_details as { value: number; had_recent_input: boolean };
  expect(moved).toEqual({ value: expect.any(Number), had_recent_input: false });
  expect(moved.value).toBeGreaterThan(0);
  const paint = await read.until("the largest paint", ({ type }) => type === "page_lcp");
  expect(paint.data?.lcp_details).toMatchObject({ element_id: "large", size: expect.any(Number) });
  const settled = await read.until("a layout that has settled", ({ type }) => type === "page_layout_settled");
  expect(settled.ts - shift.ts).toBeGreaterThan(900_000);
  expect(settled.data).toMatchObject({ target_id, url: `${site}/moving` });
  await read.until("a navigation that has settled", ({ type }) => type === "page_navigation_settled");
  const idle = await read.until(
    "no requests",
    ({ type, data }) => type === "network_idle" && data?.target_id === target_id,
  );
  expect(idle.data).toMatchObject({ target_type: "page", url: `${site}/moving` });
  await tab.goto("chrome://crash").catch(() => undefined);
  const crash = await read.until("the crash", ({ type }) => type === "page_crashed");
  expect(crash).toMatchObject({ category: "page", data: { target_id, target_type: "page", url: expect.any(String) } });
  await release(held);
});

// TELEMETRY-39
test("the holder's calls are told, those that drive the browser as control", async () => {
  const held = await hold(all);
  const call = async (method: string, path: string, body?: object): Promise<number> => {
    const token = createAgentTokens(agent.privateKey).tokenFor(agent.podUid);
    const headers = {
      authorization: `Bearer ${token}`,
      [sessionHeader]: held.name,
      "content-type": "application/json",
    };
    const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return (await fetch(`${agent.baseUrl}/calls/${path}`, options)).status;
  };
  expect(await call("POST", "computer/click_mouse", { x: 1, y: 1 })).toBe(200);
  expect(await call("GET", "fs/list_files?path=/tmp/nowhere")).toBe(404);
  const click = await held.read.until("a click of hands", ({ type }) => type === "api_call");
  expect(click).toMatchObject({
    category: "control",
    source: { kind: "kernel_api" },
    data: { operation_id: "computer/click_mouse", status: 200, request_id: expect.any(String) },
  });
  const listed = await held.read.until("a look at files", ({ type }) => type === "platform_api_call");
  expect(listed).toMatchObject({ category: "platform", data: { operation_id: "fs/list_files", status: 404 } });
  expect(JSON.stringify(held.read.records)).not.toContain("nowhere");
  await release(held);
});

// TELEMETRY-5, TELEMETRY-15, LEASE-9
test("a lease's own settings lie upon the pool's, may change, and end with it", async () => {
  const held = await hold({
    browser: { console: { enabled: true }, control: { cdp: { excluded_methods: ["Page.navigate"] } } },
  });
  const { tab, read, name } = held;
  await tab.goto(site);
  await read.until("a console line", ({ type }) => type === "console_log");
  const fence = { session_id: name, epoch: 1, seq };
  expect((await agent.call("PUT", "/telemetry", { ...fence, telemetry: { enabled: false } })).status).toBe(200);
  const before = read.records.length;
  await tab.goto(`${site}/unseen`, { waitUntil: "networkidle0" });
  expect(
    (await agent.call("PUT", "/telemetry", { ...fence, telemetry: { browser: { network: { enabled: true } } } }))
      .status,
  ).toBe(200);
  await eventually("requests are told again", async () => {
    await tab.goto(`${site}/seen`);
    return read.records.some(({ event }) => String(event.data?.url).endsWith("/seen"));
  });
  expect(JSON.stringify(read.records.slice(before))).not.toContain("unseen");
  expect((await agent.call("PUT", "/telemetry", { ...fence, seq: seq + 1, telemetry: null })).status).toBe(409);
  const methods = read.records
    .slice(0, before)
    .flatMap(({ event }) => (event.type === "cdp_command" ? [event.data?.method] : []));
  expect(methods).toContain("Page.enable");
  expect(methods).not.toContain("Page.navigate");
  await release(held);
  await read.ended;
  expect(read.records.filter(({ event }) => event.category === "network").length).toBeGreaterThan(0);

  // The next lease has the pool's settings: the default set.
  const next = await hold();
  await next.tab.goto(`${site}/next`);
  await next.read.until("a command", ({ type, data }) => type === "cdp_command" && data?.method === "Page.navigate");
  await release(next);
  await next.read.ended;
  const known = next.read.records.map(({ event }) => event.category);
  expect(new Set(known)).toEqual(new Set(["connection", "control", "system"]));
  expect(JSON.stringify(next.read.records)).not.toContain(name);
  await expect(readTelemetry(agent, name)).rejects.toThrow("404");
  const again = await readTelemetry(agent, next.name, 3);
  await again.ended;
  expect(again.records).toEqual(next.read.records.slice(3));
});

// TELEMETRY-20
test("a dialog does not stop a page whose client asks for no dialogs", async () => {
  const held = await hold(all);
  await held.browser.disconnect();
  const cdp = await connectCdp(devToolsOf(agent, agent.agentKey, held.name), new AbortController().signal);
  const { targetId } = await cdp.send("Target.createTarget", { url: site });
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  const { result } = await cdp.send("Runtime.evaluate", { expression: "confirm('go on?')" }, { sessionId });
  expect(result.value).toBe(false);
  await cdp[Symbol.asyncDispose]();
  await release(held);
});

test("the last event of a browser that crashes is that it has crashed", async () => {
  const mine = await agents.start({ headless: true, telemetry: { enabled: true } });
  await mine.bind("crashed", 1);
  const read = await readTelemetry(mine, "crashed");
  const browser = await mine.connect("crashed");
  await browser.newPage();
  for (const group of mine.groups()) process.kill(-group, "SIGKILL");
  await read.ended;
  const told = read.records.find(({ event }) => event.type === "service_crashed");
  expect(told?.event.data).toEqual({ service_name: "chromium", phase: "running" });
  expect(await mine.exited).toBe(1);
});
