/**
 * What of a filled page is told: neither its values nor its picture. A real agent and a real Chromium; the page does
 * all it can.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { telemetryCategories } from "../../../../src/core/model/settings/telemetry.ts";
import { purposeHeader } from "../../../../src/core/protocol/agent-api.ts";
import { sealText } from "../../../../src/core/protocol/sealed-bytes.ts";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { readTelemetry } from "../../../support/read-telemetry.ts";
import { devToolsOf, session } from "../../../support/visited-agent.ts";

const password = 'Tr0ub4dor & 3"';

/** Tells the value of its field in every way that events have. */
const page = `<!doctype html><title>login</title><input id="login">
<script>addEventListener("input", (event) => {
  const { value } = event.target;
  console.log("typed", value, { value }); console.error(JSON.stringify({ value }));
  fetch("/api?" + new URLSearchParams({ value })); fetch("/api/" + encodeURIComponent(value));
  history.replaceState({}, "", "?now=" + encodeURIComponent(value)); document.title = value;
  setTimeout(() => { throw new Error(value) });
  open("/popup?" + new URLSearchParams({ value }));
})</script>`;

const agents = createTestAgents();
const stack = new AsyncDisposableStack();
stack.use(agents);
let site: string;
let agent: TestAgent;

beforeAll(async () => {
  const server = createServer(({ url = "" }, response) =>
    // Pages that look the same are pictured once.
    response.setHeader("content-type", "text/html").end(`${page}<h1>${url.split("?")[0]?.length}</h1>`),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(() => void server.close());
  stack.defer(() => server.closeAllConnections());
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = Object.fromEntries(telemetryCategories.map((name) => [name, { enabled: true }]));
  agent = await agents.start({ headless: true, telemetry: { enabled: true, browser } });
});
afterAll(() => stack.disposeAsync());

const openFill = async (): Promise<WebSocket> => {
  const { url, headers } = devToolsOf(agent);
  const socket = new WebSocket(url, { headers: { ...headers, [purposeHeader]: "fill" } });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return socket;
};

// TELEMETRY-17, TELEMETRY-18
test("a filled value is in no event, and a filled page in no picture", async () => {
  const fence = { session_id: session, epoch: 1, seq: 1 };
  await agent.bind(session, 1);
  const read = await readTelemetry(agent, session);
  const browser = await agent.connect(session);
  const tab = await browser.newPage();
  await tab.goto(`${site}/login`);
  await read.until(
    "a picture of the page before",
    ({ type, data }) => type === "monitor_screenshot" && String(data?.url).endsWith("/login"),
  );

  // The control: what nobody masks is told.
  await tab.type("#login", "plain words");
  await read.until("a line with what was typed", ({ data }) => String(data?.text).includes("typed plain words"));

  const masks = sealText(agent.agentKey, JSON.stringify({ ...fence, values: [password] }));
  expect((await agent.call("PUT", "/masks", masks)).status).toBe(200);
  const fill = await openFill();
  await read.until("the fill's begin", ({ type }) => type === "platform_fill_started");
  const pictures = () => read.records.filter(({ event }) => event.type === "monitor_screenshot").length;
  const before = pictures();
  await tab.bringToFront();
  await tab.$eval("#login", (field) => {
    (field as { value?: string }).value = "";
  });
  await tab.type("#login", password);
  fill.close();
  await read.until("its end", ({ type }) => type === "platform_fill_ended");
  await read.until("masked lines", ({ data }) => String(data?.text).includes("typed [filled]"));
  await read.until("a masked request", ({ data }) => String(data?.url).endsWith("/api/[filled]"));
  await read.until("a masked query", ({ data }) => String(data?.url).endsWith("/api?value=[filled]"));
  await read.until(
    "a masked exception",
    ({ data }) => data?.level === "exception" && String(data.text).includes("[filled]"),
  );

  // The tab is pictured again when it has gone on.
  await tab.bringToFront();
  await tab.goto(`${site}/account`);
  await eventually("a picture of the next page", () => pictures() > before);
  const shown = read.records.filter(({ event }) => event.type === "monitor_screenshot").slice(before);
  for (const { event } of shown) expect(event.data?.url).toMatch(/account|popup/);

  const refused = sealText(agent.agentKey, JSON.stringify({ ...fence, seq: 2, values: ["x"] }));
  expect((await agent.call("PUT", "/masks", refused)).status).toBe(409);
  await browser.disconnect();
  await agent.release(session, 1, "reset");
  await read.ended;
  // Pieces that were typed before the whole are no value of a vault.
  const text = JSON.stringify(read.records);
  for (const form of [password, encodeURIComponent(password), new URLSearchParams({ v: password }).toString().slice(2)])
    expect(text).not.toContain(JSON.stringify(form).slice(1, -1));
  // No log of the agent has it either.
  expect(agent.log()).not.toContain("Tr0ub4dor");
});
