/** The tools of pages, for the holder of their browser. */
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { type Answer, createToolClient, hints, register, schema, serveTools } from "./tool-pages.ts";

const site = serveTools();

describe.each([{ headless: true }, { headless: false }])("headless: $headless", ({ headless }) => {
  const agents = createTestAgents();
  let agent: TestAgent;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    agent = await agents.start({ headless });
    await agent.bind("s", 1);
    browser = await agent.connect("s");
    page = (await browser.pages())[0] ?? (await browser.newPage());
    await page.goto(site("/shop"));
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const { call, tools, named, invoke } = createToolClient(() => agent);

  // WEBMCP-1
  test("lists the tools of pages and their frames, with what they say of themselves", async () => {
    await page.goto(site("/shop"));
    const found = await tools();
    expect(found.map(({ tool }) => tool.name).sort()).toEqual(["add", "fail", "find", "hang", "inner", "leave"]);
    const source = {
      page_title: "Shop",
      page_url: site("/shop"),
      tab_id: expect.any(Number),
      window_id: expect.any(Number),
      frame: null,
    };
    expect(await named("add")).toEqual({
      tool: { name: "add", title: "Adding", description: "Adds", inputSchema: schema, annotations: { ...hints } },
      tool_ref: expect.any(String),
      source,
    });
    expect((await named("find")).tool.inputSchema).toMatchObject({ properties: { q: { type: "string" } } });
    const frame = { frame_id: expect.any(Number), url: site("/inner") };
    expect((await named("inner")).source).toEqual({ ...source, frame });

    const other = await browser.newPage();
    await other.goto(`${site("/frames")}#part`);
    await expect.poll(async () => (await tools()).map(({ tool }) => tool.name)).toContain("top");
    await expect.poll(async () => (await tools()).filter(({ tool }) => tool.name === "inner")).toHaveLength(2);
    const away = (await tools()).filter(({ source: { page_title } }) => page_title === "Frames");
    expect(away.map(({ tool }) => tool.name).sort()).toEqual(["inner", "top"]);
    expect(away[0]?.source).toMatchObject({ page_url: site("/frames") });
    expect(away[0]?.source.tab_id).toBeGreaterThan((await named("add")).source.tab_id);
    const { tool_ref } = away.find(({ tool }) => tool.name === "inner") ?? {};
    expect((await call("POST", "invoke", { tool_ref, input: {} })).body.answer).toMatchObject({ output: "/inner" });
    await other.close();
  });

  // WEBMCP-2
  test("invokes a tool, and says what came of it", async () => {
    await page.goto(site("/shop"));
    const invocation_id = expect.any(String);
    expect(await invoke("add", { a: 2 })).toEqual({ invocation_id, status: "completed", output: { sum: 3 } });
    expect(await invoke("inner")).toEqual({ invocation_id, status: "completed", output: "/inner" });
    expect(await invoke("fail")).toEqual({ invocation_id, status: "error", error_text: "Error: no stock" });
    expect(await invoke("find", { q: "tea" })).toEqual({ invocation_id, status: "awaiting_submission" });
    expect(await page.$eval("input[name=q]", (input) => (input as unknown as { value: string }).value)).toBe("tea");
    expect(await invoke("hang", {}, 1)).toMatchObject({ status: "canceled", error_text: "no answer in time" });
    expect(await invoke("leave")).toMatchObject({ status: "completed" });
    await expect.poll(() => page.url()).toBe(site("/empty"));
  });

  // WEBMCP-3
  test("a reference is over with its document, and with its registration", async () => {
    await page.goto(site("/shop"));
    const before = (await named("add")).tool_ref;
    const invokeRef = (tool_ref: string): Promise<Answer> => call("POST", "invoke", { tool_ref, input: { a: 1 } });
    expect((await invokeRef(before)).status).toBe(200);
    await page.reload();
    const gone = { status: 404, body: { code: "missing", message: expect.stringContaining("list the tools again") } };
    expect(await invokeRef(before)).toMatchObject(gone);
    const again = register({ name: "once", description: "first" }, "() => 1").replace(" });", " }, { signal });");
    await page.evaluate(`window.end = new AbortController(); { const { signal } = window.end; ${again} }`);
    const once = (await named("once")).tool_ref;
    await page.evaluate(`window.end.abort(); ${register({ name: "once", description: "second" }, "() => 2")}`);
    await expect.poll(async () => (await named("once")).tool.description).toBe("second");
    expect(await invokeRef(once)).toMatchObject(gone);
    for (const none of ["x", before.slice(0, -8), Buffer.from("{}").toString("base64url")])
      expect((await invokeRef(none)).status).toBe(400);
    expect((await call("GET", "tools", undefined, "other")).status).toBe(404);
  });

  // WEBMCP-4
  test("custom tools run in the pages that they match", async () => {
    await page.goto(site("/shop"));
    const source = `[
      { match: { url_patterns: ["http://127.0.0.1:*/shop"] }, tool: ${JSON.stringify({ name: "total", description: "t", inputSchema: schema })},
        execute: async ({ a }) => window.total + a },
      { kind: "page", match: { url_patterns: ["http://*:*/inner"] }, tool: ${JSON.stringify({ name: "where", description: "w", inputSchema: {} })},
        execute: () => location.pathname },
      { match: { url_patterns: ["https://nowhere.example/*"] }, tool: ${JSON.stringify({ name: "none", description: "n", inputSchema: {} })},
        execute: () => { throw new TypeError("out of order") } },
    ]`;
    const added = await call("POST", "custom-tools", { namespace: "mine", source });
    expect(added.body.answer?.tools).toMatchObject([
      {
        kind: "page",
        namespace: "mine",
        match: { url_patterns: ["http://127.0.0.1:*/shop"] },
        tool: { name: "total" },
      },
      { tool: { name: "where" } },
      { tool: { name: "none" } },
    ]);
    const total = await named("total");
    expect(total.source).toMatchObject({ frame: null, custom: { namespace: "mine" }, target_id: expect.any(String) });
    expect((await tools("?exclude_custom=true")).some(({ source: { custom } }) => custom)).toBe(false);
    expect((await tools()).some(({ tool }) => tool.name === "none")).toBe(false);
    expect(await invoke("total", { a: 1 })).toMatchObject({ status: "completed", output: 42 });
    expect(await invoke("where")).toMatchObject({ status: "completed", output: "/inner" });

    expect(await call("POST", "custom-tools", { namespace: "mine", source })).toMatchObject({ status: 409 });
    const instead = `[{ match: { url_patterns: ["*://*:*/*"] }, tool: ${JSON.stringify({ name: "broken", description: "", inputSchema: {} })},
      execute: () => { throw new TypeError("out of order") } }]`;
    const replacing = { namespace: "mine", source: instead, force_overwrite_namespace: true };
    const replaced = (await call("POST", "custom-tools", replacing)).body.answer?.tools ?? [];
    expect(replaced.map(({ tool }) => tool.name)).toEqual(["broken"]);
    expect(await invoke("broken")).toMatchObject({ status: "error", error_text: "TypeError: out of order" });
    const id = replaced[0]?.id ?? "";
    expect((await call("DELETE", `custom-tools/${id}`)).status).toBe(200);
    expect((await call("DELETE", `custom-tools/${id}`)).status).toBe(404);
    expect((await call("GET", "custom-tools")).body.answer?.tools).toEqual([]);
    expect(await browser.pages()).toHaveLength(1);
  });
});
