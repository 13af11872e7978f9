/** Pages with tools, on this machine, and a client of an agent's calls for them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect } from "vitest";
import { sessionHeader } from "../../../../src/core/protocol/agent-api.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import type { Definition, Invocation, Tool } from "../../../../src/features/webmcp/calls.ts";
import type { TestAgent } from "../../../support/agent-process.ts";

export type Answer = {
  status: number;
  body: { answer?: { tools?: Tool[] & Definition[] } & Partial<Invocation>; code?: string; message?: string };
};

/** A script that registers a tool. */
export const register = (tool: object, execute: string): string =>
  `document.modelContext.registerTool({ ...${JSON.stringify(tool)}, execute: ${execute} });`;

export const schema = { type: "object", properties: { a: { type: "number" } } };

export const hints = { readOnlyHint: true, untrustedContentHint: true, consequentialHint: false };

const manyTools = (count: number, chars: number): string => `<script>for (let i = 0; i < ${count}; i += 1)
  document.modelContext.registerTool({ name: "t" + i, description: "y".repeat(${chars}), execute: () => i });</script>`;

const pages: Record<string, string> = {
  "/shop": `<title>Shop</title><script>
    ${register({ name: "add", title: "Adding", description: "Adds", inputSchema: schema, annotations: hints }, "async ({ a }) => ({ sum: a + 1 })")}
    ${register({ name: "fail", description: "Fails" }, "async () => { throw new Error('no stock') }")}
    ${register({ name: "hang", description: "Hangs" }, "() => new Promise(() => {})")}
    ${register({ name: "leave", description: "Leaves" }, "() => { location.href = '/empty'; return new Promise(() => {}) }")}
    ${register({ name: "long", description: "x".repeat(30_000) }, "() => 1")}
    window.total = 41;
  </script>
  <form toolname="find" tooldescription="Finds"><input name="q"><button>Go</button></form>
  <iframe src="/inner"></iframe>`,
  "/frames": `<title>Frames</title><iframe id="away" allow="tools"></iframe><script>
    document.getElementById("away").src = location.href.replace("127.0.0.1", "localhost").replace("frames", "inner");
    document.modelContext.getTools = async () => [{ name: "forged", description: "", window }];
    ${register({ name: "top", description: "At the top" }, "() => 1")}</script>`,
  "/busy": `<title>Busy</title><script>
    ${register({ name: "busy", description: "Never answers" }, "() => 1")}
    setTimeout(() => { for (;;); }, 300);</script>`,
  "/inner": `<script>${register({ name: "inner", description: "In a frame" }, "() => location.pathname")}</script>`,
  "/many": manyTools(600, 10),
  "/long": manyTools(500, 9000),
  "/empty": "<title>Empty</title>",
};

const server = createServer(({ url = "" }, response) =>
  response.setHeader("content-type", "text/html").end(pages[url] ?? ""),
);

/** Serves the pages while the tests of a file run; returns the URL of a path. */
export const serveTools = (): ((path: string) => string) => {
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return (path) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
};

/** The calls of the session `s` at an agent. */
export const createToolClient = (agentNow: () => TestAgent) => {
  const call = async (method: string, path: string, body?: object, session = "s"): Promise<Answer> => {
    const token = createAgentTokens(agentNow().privateKey).tokenFor(agentNow().podUid);
    const headers = { authorization: `Bearer ${token}`, [sessionHeader]: session, "content-type": "application/json" };
    const response = await fetch(`${agentNow().baseUrl}/calls/webmcp/${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Answer["body"] };
  };
  const tools = async (query = ""): Promise<Tool[]> => {
    const answer = await call("GET", `tools${query}`);
    expect(answer.body.message).toBeUndefined();
    return answer.body.answer?.tools ?? [];
  };
  const named = async (name: string): Promise<Tool> => {
    const found = (await tools()).find(({ tool }) => tool.name === name);
    if (!found) throw new Error(`no tool ${name}`);
    return found;
  };
  const invoke = async (name: string, input: object = {}, timeout_sec = 10): Promise<Answer["body"]["answer"]> => {
    const { tool_ref } = await named(name);
    const answer = await call("POST", "invoke", { tool_ref, input, timeout_sec });
    expect(answer.body.message).toBeUndefined();
    return answer.body.answer;
  };

  return { call, tools, named, invoke };
};
