/** The password of a parent proxy is the agent's alone: its browser takes the proxy and never learns it. */
import { readdirSync, readFileSync } from "node:fs";
import type { CDPSession, Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestAgents, runningIn, type TestAgent } from "../../../support/agent-process.ts";
import { ownAddress } from "../../../support/wall/machine.ts";
import { type PagesSite, startPagesSite } from "../../../support/wall/pages-site.ts";
import { startTestParent, type TestParent } from "../../../support/wall/parent-proxy.ts";

const username = "proxy-user-7f3a";
const password = "proxy-secret-91c4";
const basic = Buffer.from(`${username}:${password}`).toString("base64");

/** Whether a text has the password, as it is or as a header has it. */
const tells = (text: string): boolean => text.includes(password) || text.includes(basic);

const agents = createTestAgents();
let parent: TestParent;
let site: PagesSite;
let agent: TestAgent;
let page: Page;
let cdp: CDPSession;
/** All that CDP said while the page was loaded by the proxy. */
const said: string[] = [];

beforeAll(async () => {
  parent = await startTestParent({ credentials: `${username}:${password}` });
  site = await startPagesSite(ownAddress);
  const proxies = [{ id: "p", protocol: "http" as const, host: ownAddress, port: parent.port, username, password }];
  const setup = { policy: { BookmarkBarEnabled: false }, network: { proxy: "p", proxies } };
  agent = await agents.start({}, { setup });
  await agent.bind("s", 1);
  page = await (await agent.connect("s")).newPage();
  cdp = await page.createCDPSession();
  const note = (name: string | symbol, event: unknown): void =>
    void said.push(`${String(name)} ${JSON.stringify(event)}`);
  // The types of this handler lack its second argument. Some names are symbols of the client itself.
  cdp.on("*", note as never);
  await cdp.send("Network.enable");
  await cdp.send("Fetch.enable", { handleAuthRequests: true });
  cdp.on("Fetch.requestPaused", ({ requestId }) => void cdp.send("Fetch.continueRequest", { requestId }));
  await page.goto(site.page("<title>by the proxy</title>"));
});
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await parent[Symbol.asyncDispose]();
});

test("the browser does take the proxy, which takes none without the password", async () => {
  expect(await page.title()).toBe("by the proxy");
  expect(parent.asked.some((line) => line.includes(site.host))).toBe(true);
});

// PROXY-21
test("it is in no argument and no variable of any of the browser's processes", () => {
  const read = (path: string): string[] => {
    try {
      return [readFileSync(path, "latin1")];
    } catch {
      return [];
    }
  };
  const pids = [agent.child.pid ?? 0, ...runningIn(agent.groups())];
  const texts = pids.flatMap((pid) => [...read(`/proc/${pid}/cmdline`), ...read(`/proc/${pid}/environ`)]);
  expect(texts.length).toBeGreaterThan(8);
  expect(texts.filter(tells)).toEqual([]);
});

// PROXY-21
test("CDP does not tell it: no event of the network, no command line, no target", async () => {
  expect(said.some((event) => event.startsWith("Network.responseReceivedExtraInfo"))).toBe(true);
  const root = await page.browser().target().createCDPSession();
  const answers = await Promise.allSettled([
    root.send("Browser.getBrowserCommandLine"),
    root.send("Target.getTargets"),
    root.send("Target.getBrowserContexts"),
    root.send("SystemInfo.getInfo"),
    root.send("Storage.getCookies"),
  ]);
  expect(answers.some(({ status }) => status === "fulfilled")).toBe(true);
  expect([...said, JSON.stringify(answers)].filter(tells)).toEqual([]);
});

/** The text of a file as the browser shows it; empty when it can't. */
const shown = async (path: string): Promise<string> => {
  const other = await page.browser().newPage();
  try {
    await other.goto(`file://${path}`, { timeout: 5000 });
    return (await other.evaluate("document.documentElement.innerText")) as string;
  } catch {
    return "";
  } finally {
    await other.close();
  }
};

// PROXY-21
test("no file that the browser can open has it", async () => {
  const files = readdirSync(agent.dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`);
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => tells(readFileSync(file, "latin1")))).toEqual([]);
  const managed = "/etc/chromium/policies/managed/browserpool.json";
  expect(await shown(managed)).toContain("BookmarkBarEnabled");
  const own = ["cmdline", "environ", "mounts"].map((name) => `/proc/self/${name}`);
  const others = ["cmdline", "environ", "maps"].map((name) => `/proc/${agent.child.pid}/${name}`);
  expect(tells(await shown(managed))).toBe(false);
  // Chromium takes the files of /proc for empty.
  for (const path of [...own, ...others]) expect(await shown(path), path).toBe("");
});

// PROXY-21
test("the agent does not log it", async () => {
  await expect.poll(agent.log).toContain("setup is complete");
  expect(tells(agent.log())).toBe(false);
});
