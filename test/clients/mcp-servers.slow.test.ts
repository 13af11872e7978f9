/** MCP servers that drive a browser by CDP, unchanged, each by its configuration in docs/clients.md. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { documented } from "./client-run.ts";
import { acquireSession, pageTitles, releaseSession, startClientParts } from "./client-session.ts";
import { npmClients } from "./installed.ts";
import { type McpServer, startMcpServer } from "./mcp-client.ts";

const clients = await npmClients();

const at = startClientParts(clients !== undefined);

type Configuration = { mcpServers: Record<string, { args: string[] }> };

/** Starts a server as docs/clients.md configures it, but from the installed package in place of npx. */
const startDocumented = (name: string, program: string, cdpWsUrl: string): Promise<McpServer> => {
  const { mcpServers } = JSON.parse(documented("json", `"${name}"`, at.shop)) as Configuration;
  const [, ...args] = mcpServers[name]?.args ?? [];
  const url = args.map((arg) => (arg === "CDP_WS_URL" ? cdpWsUrl : arg));
  return startMcpServer(join(clients ?? "", "node_modules/.bin", program), [...url, ...(more[name] ?? [])], at.cwd);
};

/** What a test adds: nothing goes to the server's makers. */
const more: Record<string, string[]> = { "chrome-devtools": ["--no-usage-statistics"] };

/** The element of a snapshot in a line that has this text. */
const elementIn = (snapshot: string, pattern: RegExp): string => {
  const [, element] = pattern.exec(snapshot) ?? [];
  if (!element) throw new Error(`no ${pattern} in ${snapshot}`);
  return element;
};

/** What each server sees of the shop after it typed "tea" and clicked. */
type Seen = { found: string; png: string };

const byPlaywright = async ({ call }: McpServer): Promise<Seen> => {
  await call("browser_navigate", { url: at.shop.url });
  const { text: snapshot } = await call("browser_snapshot");
  const field = elementIn(snapshot, /textbox.*\[ref=(\w+)\]/);
  await call("browser_type", { element: "the field", target: field, text: "tea" });
  await call("browser_click", { element: "the button", target: elementIn(snapshot, /button.*\[ref=(\w+)\]/) });
  const { text: found } = await call("browser_evaluate", { function: "() => document.querySelector('p').textContent" });
  return { found, png: (await call("browser_take_screenshot")).images[0] ?? "" };
};

const byDevTools = async ({ call }: McpServer): Promise<Seen> => {
  const pageId = Number(elementIn((await call("list_pages")).text, /(\d+): /));
  await call("navigate_page", { pageId, type: "url", url: at.shop.url });
  const { text: snapshot } = await call("take_snapshot", { pageId });
  await call("fill", { pageId, uid: elementIn(snapshot, /uid=(\w+) textbox/), value: "tea" });
  await call("click", { pageId, uid: elementIn(snapshot, /uid=(\w+) button/) });
  const script = { pageId, function: "() => document.querySelector('p').textContent" };
  const { text: found } = await call("evaluate_script", script);
  return { found, png: (await call("take_screenshot", { pageId })).images[0] ?? "" };
};

// HTTP-43
test.skipIf(!clients).each([
  {
    name: "playwright",
    program: "playwright-mcp",
    drive: byPlaywright,
    list: { tool: "browser_tabs", input: { action: "list" } },
  },
  {
    name: "chrome-devtools",
    program: "chrome-devtools-mcp",
    drive: byDevTools,
    list: { tool: "list_pages", input: {} },
  },
] as const)("$name drives a session, leaves it, and says that it has ended", async ({ name, program, drive, list }) => {
  const session = await acquireSession(at.stack, at);
  {
    await using server = await startDocumented(name, program, session.CDP_WS_URL);
    const { found, png } = await drive(server);
    expect(found).toContain('"found tea"');
    expect(Buffer.from(png, "base64").subarray(1, 4).toString()).toBe("PNG");
  }
  expect(await pageTitles(at.stack, session.id)).toEqual(["Shop"]);
  await using server = await startDocumented(name, program, session.CDP_WS_URL);
  expect(await server.call(list.tool, list.input)).toMatchObject({
    isError: false,
    text: expect.stringContaining(at.shop.url),
  });
  await releaseSession(at.stack, session.id);
  // The first call may be the one by which a server notices that its connection has ended.
  await server.call(list.tool, list.input);
  expect(await server.call(list.tool, list.input)).toMatchObject({
    isError: true,
    text: expect.stringContaining("404"),
  });
});
