/** What pages and holders can do wrong with tools. */
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sessionHeader } from "../../../../src/core/protocol/agent-api.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { createToolClient, serveTools } from "./tool-pages.ts";

const site = serveTools();

describe("a browser with tools", () => {
  const agents = createTestAgents();
  let agent: TestAgent;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    agent = await agents.start({ headless: true });
    await agent.bind("s", 1);
    browser = await agent.connect("s");
    page = (await browser.pages())[0] ?? (await browser.newPage());
    await page.goto(site("/shop"));
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const { call, tools, named } = createToolClient(() => agent);

  // WEBMCP-4
  test.each([
    ["[", "source: SyntaxError: "],
    ["null", "its value is no array"],
    ["[]", "its value is no array"],
    ["[{}]", "source: 0."],
    ["(() => { throw new Error('mine') })()", "source: Error: mine"],
    [
      "[{ match: { url_patterns: ['*'] }, tool: { name: 'a', description: '', inputSchema: {} }, execute: 1 }]",
      "no function",
    ],
    [
      "[{ match: { url_patterns: ['/(a+)+$'] }, tool: { name: 'a', description: '', inputSchema: {} }, execute() {} }]",
      "URL pattern",
    ],
    [
      "[{ match: { url_patterns: ['http://h/(a+)+$'] }, tool: { name: 'a', description: '', inputSchema: {} }, execute() {} }]",
      "regular expression",
    ],
    [
      "[{ kind: 'cdp', match: { url_patterns: ['*'] }, tool: { name: 'a', description: '', inputSchema: {} }, execute() {} }]",
      "only page",
    ],
    ["(() => { for (;;); })()", "source: was not evaluated within 2 s"],
  ])("refuses the source %s", async (source, message) => {
    const answer = await call("POST", "custom-tools", { namespace: "bad", source });
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
    expect((await call("GET", "custom-tools")).body.answer?.tools).toEqual([]);
  });

  // WEBMCP-5
  test("a page with thousands of tools, or one that hangs, keeps no list back", async () => {
    await page.goto(site("/many"));
    await expect.poll(async () => (await tools()).length, { timeout: 20_000 }).toBe(500);
    await page.goto(site("/long"));
    await expect.poll(async () => (await tools()).length, { timeout: 20_000 }).toBeGreaterThan(400);
    const long = await tools();
    expect(long.length).toBeLessThan(500);
    expect(JSON.stringify(long).length).toBeLessThan(4.1 * 1024 * 1024);
    await page.goto(site("/shop"));
    const busy = await browser.newPage();
    await busy.goto(site("/busy"));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await tools()).map(({ tool }) => tool.name)).toContain("add");
    await busy.close();
    const { tool_ref } = await named("hang");
    const hanging = Array.from({ length: 9 }, () => call("POST", "invoke", { tool_ref, input: {}, timeout_sec: 2 }));
    expect((await Promise.all(hanging)).map(({ status }) => status).sort()).toEqual([...Array(8).fill(200), 429]);
  });

  // WEBMCP-6
  test("the next holder finds no custom tool", async () => {
    const source = `[{ match: { url_patterns: ["*://*:*/*"] }, tool: { name: "left", description: "", inputSchema: {} }, execute() {} }]`;
    expect((await call("POST", "custom-tools", { namespace: "mine", source })).status).toBe(200);
    await agent.release("s", 1);
    await agent.bind("t", 2);
    expect((await call("GET", "custom-tools", undefined, "t")).body.answer?.tools).toEqual([]);
  });
});

// WEBMCP-7
test("a stealth browser has no tools, and pages can't tell it by them", async () => {
  await using agents = createTestAgents();
  const agent = await agents.start({ headless: true, stealth: true });
  await agent.bind("s", 1);
  const [page] = await (await agent.connect("s")).pages();
  await page?.goto(site("/empty"));
  expect(await page?.evaluate("'modelContext' in document")).toBe(false);
  const token = createAgentTokens(agent.privateKey).tokenFor(agent.podUid);
  const response = await fetch(`${agent.baseUrl}/calls/webmcp/tools`, {
    headers: { authorization: `Bearer ${token}`, [sessionHeader]: "s" },
  });
  expect({ status: response.status, body: await response.json() }).toMatchObject({
    status: 400,
    body: { code: "not_supported_here" },
  });
});
