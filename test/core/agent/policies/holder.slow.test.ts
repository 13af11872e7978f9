/** What a holder of CDP tries against the policies of its browser and of its neighbours. */
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { listeningPort } from "../../../../src/platform/base/listening-port.ts";
import { createTestAgents, type StartOptions, type TestAgent } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { replacePolicies, shownPolicies } from "../../../support/policy-page.ts";

const agents = createTestAgents();
afterEach(() => agents[Symbol.asyncDispose]());

const hostile = { URLBlocklist: ["free.test"] };

let site: Server;
beforeAll(async () => {
  site = createServer((_, response) => {
    response.setHeader("content-disposition", 'attachment; filename="zz.json"');
    response.end(JSON.stringify(hostile));
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
});
afterAll(() => new Promise<void>((resolve) => void site.close(() => resolve())));

const held = async (
  browser: Parameters<typeof agents.start>[0],
  more?: StartOptions,
): Promise<{ agent: TestAgent; browser: Browser; page: Page }> => {
  const agent = await agents.start(browser, { ...more, env: { BROWSERPOOL_OWN_PORTS: "" } });
  await agent.bind("s", 1);
  const connected = await agent.connect("s");
  return { agent, browser: connected, page: await connected.newPage() };
};

/** Why a page does not load. */
const whyNot = (page: Page, url: string): Promise<string> =>
  page.goto(url).then(
    () => "it loads",
    (error: Error) => error.message,
  );
const blocked = "ERR_BLOCKED_BY_ADMINISTRATOR";

// POOL-19
test.each([
  ["a headless browser with policies", {}, { setup: { policy: { URLBlocklist: ["blocked.test"] } } }],
  ["a headful browser with policies", { headless: false }, { setup: { policy: { URLBlocklist: ["blocked.test"] } } }],
])("the page for tests of policies changes nothing in %s", async (_, settings, more) => {
  const { page } = await held(settings, more);
  await replacePolicies(page, hostile);
  expect(await whyNot(page, "http://blocked.test/")).toContain(blocked);
  expect(await whyNot(page, "http://free.test/")).not.toContain(blocked);
  expect(Object.keys(await shownPolicies(page)).sort()).toEqual(["PolicyTestPageEnabled", "URLBlocklist"]);
});

// POOL-19
test.each([
  ["headful", { headless: false }],
  ["headless with stealth", { stealth: true }],
])("a holder of a %s browser without policies starts no program by a policy", async (_, settings) => {
  const { page } = await held(settings);
  const folder = await mkdtemp(join(tmpdir(), "policy-program-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await replacePolicies(page, {
    ...hostile,
    BrowserSwitcherEnabled: true,
    BrowserSwitcherDelay: 0,
    BrowserSwitcherUrlList: ["switch.test"],
    AlternativeBrowserPath: "/usr/bin/touch",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Chromium's own word for the URL.
    AlternativeBrowserParameters: [join(folder, "started"), "${url}"],
  });
  // Where it worked, the browser would now leave the page and start the program. It asks for the page: there is no such
  // host.
  expect(await whyNot(page, "http://switch.test/")).toContain("ERR_EMPTY_RESPONSE");
  expect(await whyNot(page, "http://free.test/")).not.toContain(blocked);
  expect(await readdir(folder)).toEqual([]);
});

/** The folder of policies that this agent has written. */
const folderOf = ({ dir }: TestAgent): string => {
  const [run] = readdirSync(dir).filter((name) => name.startsWith("browser-"));
  return join(dir, run ?? "", "policies/managed");
};

/** Downloads a file with a policy into a folder, and tells how that ended. */
const download = async (browser: Browser, page: Page, downloadPath: string): Promise<string> => {
  const root = await browser.target().createCDPSession();
  const ended = Promise.withResolvers<string>();
  root.on("Browser.downloadProgress", ({ state }) => state !== "inProgress" && ended.resolve(state));
  await root.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath, eventsEnabled: true });
  await page.goto(`http://127.0.0.1:${listeningPort(site)}/`).catch(() => undefined);
  return ended.promise;
};

// POOL-19
test("no download gets into a browser's folder of policies, its own or a neighbour's", async () => {
  const policy = { URLBlocklist: ["blocked.test"] };
  const own = await held({}, { setup: { policy } });
  const neighbour = await held({}, { setup: { policy: { URLBlocklist: ["other.test"] } } });
  const plain = await held({});
  const free = await mkdtemp(join(tmpdir(), "policy-free-"));
  onTestFinished(() => rm(free, { recursive: true }));
  const folders = ["/etc/chromium/policies/managed", folderOf(own.agent), folderOf(neighbour.agent)];
  expect(existsSync(folders[1] ?? "") && existsSync(folders[2] ?? "")).toBe(true);
  for (const { agent, browser, page } of [own, plain]) {
    for (const folder of ["/etc/chromium/policies/managed", folderOf(agent)])
      expect(await download(browser, page, folder), folder).toBe("canceled");
    for (const folder of folders) {
      await download(browser, page, folder);
      if (existsSync(folder)) expect(await readdir(folder)).toEqual(["browserpool.json"]);
    }
    // The same download arrives where the browser may write.
    expect(await download(browser, page, free)).toBe("completed");
    const arrived = join(basename(free), "zz.json");
    const files = (): string[] => readdirSync(agent.dir, { recursive: true, encoding: "utf8" });
    await eventually("the file", async () => files().some((path) => path.endsWith(arrived)));
  }
  for (const [{ page }, mine, foreign] of [
    [own, "blocked.test", "other.test"],
    [neighbour, "other.test", "blocked.test"],
  ] as const) {
    expect(await whyNot(page, `http://${mine}/`)).toContain(blocked);
    expect(await whyNot(page, `http://${foreign}/`)).not.toContain(blocked);
    expect(await whyNot(page, "http://free.test/")).not.toContain(blocked);
  }
});
