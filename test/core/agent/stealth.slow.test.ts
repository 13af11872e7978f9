/** What pages that look for automation find in the four kinds of browsers, and that docs/stealth.md says so. */
import { readFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestAgents } from "../../support/agent-process.ts";
import { eventually } from "../../support/eventually.ts";

/** A check: its name, what a page or the server found, whether a person's browser answers so. */
type Result = [name: string, found: string, passes: boolean];

const kinds = {
  "plain headless": { headless: true, stealth: false },
  "plain headful": { headless: false, stealth: false },
  "stealth headless": { headless: true, stealth: true },
  "stealth headful": { headless: false, stealth: true },
};
type Kind = keyof typeof kinds;

const agents = createTestAgents();
let site: Server;
let siteUrl: string;
let lastHeaders: IncomingHttpHeaders;
let results: Record<Kind, Result[]>;

/** What the server learns from a page's request. */
const headerResults = (headers: IncomingHttpHeaders): Result[] => {
  const agent = headers["user-agent"] ?? "";
  const hint = String(headers["sec-ch-ua"] ?? "none");
  const language = headers["accept-language"] ?? "none";
  return [
    ["header User-Agent", /HeadlessChrome|Chrome/.exec(agent)?.[0] ?? agent, !agent.includes("Headless")],
    ["header Sec-CH-UA", /HeadlessChrome/.exec(hint)?.[0] ?? "Chromium", !hint.includes("Headless")],
    ["header Accept-Language", language, language !== "none"],
  ];
};

const inspect = async (kind: Kind): Promise<Result[]> => {
  const agent = await agents.start({ ...kinds[kind], viewport: { width: 1280, height: 800 } });
  await agent.bind("s", 1);
  const client = await agent.connect("s");
  const found: Result[] = [];
  for (const page of ["antibot", "headless"]) {
    const tab = await client.newPage();
    await tab.goto(`${siteUrl}/${page}.html`);
    if (page === "antibot") found.push(...headerResults(lastHeaders));
    found.push(
      ...(await eventually(
        `the results of ${page}`,
        async () => (await tab.evaluate("globalThis.results")) as Result[],
      )),
    );
  }
  await client.disconnect();
  return found;
};

beforeAll(async () => {
  site = createServer(async (request, response) => {
    const name = /^\/(antibot|headless)\.html$/.exec(request.url ?? "")?.[1];
    if (!name) return response.writeHead(404).end();
    lastHeaders = request.headers;
    const html = await readFile(new URL(`detection/${name}.html`, import.meta.url));
    return response.setHeader("content-type", "text/html").end(html);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const all: [Kind, Result[]][] = [];
  for (const kind of Object.keys(kinds) as Kind[]) all.push([kind, await inspect(kind)]);
  results = Object.fromEntries(all) as Record<Kind, Result[]>;
}, 120_000);

afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  await new Promise((resolve) => site.close(resolve));
});

const failed = (kind: Kind): string[] => results[kind].flatMap(([name, , passes]) => (passes ? [] : [name]));

/** What no launch setting changes: a machine without a graphics card draws with its processor (docs/stealth.md). */
const remains = ["WebGL renderer"];

// BROWSER-22
test("a plain headless browser fails the checks of its user agent, plugins and others; with stealth it passes them", () => {
  expect(failed("plain headless")).toEqual([
    "header User-Agent",
    "header Sec-CH-UA",
    "header Accept-Language",
    "user agent",
    "navigator.webdriver",
    "window.chrome",
    "notifications: property, query",
    "plugins",
    "brands of the client hints",
    "tabs and address bar above the page",
    "a mouse: hovers, points finely",
    "mimeTypes",
    "PDF viewer",
    "connection.rtt",
    ...remains,
  ]);
  expect(failed("stealth headless")).toEqual(remains);
});

// BROWSER-22
test("a plain headful browser fails the checks of navigator.webdriver and WebGL; with stealth it passes them", () => {
  expect(failed("plain headful")).toEqual(["navigator.webdriver", "WebGL vendor", ...remains]);
  expect(failed("stealth headful")).toEqual(remains);
});

const table = (): string => {
  const names = Object.keys(kinds) as Kind[];
  const cell = (result: Result | undefined): string => (result?.[2] ? `${result[1]}` : `**${result?.[1]}**`);
  const rows = results["plain headless"].map(
    ([name], index) => `| ${[name, ...names.map((kind) => cell(results[kind][index]))].join(" | ")} |`,
  );
  return [`| signal | ${names.join(" | ")} |`, "|---|---|---|---|---|", ...rows].join("\n");
};

test("docs/stealth.md has the table of what these browsers show", async () => {
  const page = await readFile(new URL("../../../docs/stealth.md", import.meta.url), "utf8");
  expect(page).toContain(`${table()}\n`);
});
