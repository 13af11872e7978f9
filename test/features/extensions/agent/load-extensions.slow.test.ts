import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import puppeteer, { type Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chromiumFlags } from "../../../../src/core/agent/chromium-flags.ts";
import { connectDevTools, placeOf } from "../../../../src/core/agent/connect-dev-tools.ts";
import { SetupRefused } from "../../../../src/core/agent/setup-refused.ts";
import { startVirtualScreen } from "../../../../src/core/agent/virtual-screen.ts";
import { loadExtensions } from "../../../../src/features/extensions/agent/load-extensions.ts";
import { locatePrograms } from "../../../../src/local/locate-programs.mjs";
import { startGroupProcess } from "../../../../src/platform/process/group-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { filesOf, namedFilesCases } from "../zip/named-files.ts";

const { signal } = new AbortController();
const located = locatePrograms(process.env);
const programs = { chromium: located.chromium ?? "chromium", Xvfb: located.Xvfb ?? "Xvfb" };
const viewport = { width: 1000, height: 700 };
let site: Server;
let siteUrl: string;
let folder: string;
let browsers: AsyncDisposableStack;

beforeAll(async () => {
  site = createServer((_request, response) => response.setHeader("content-type", "text/html").end("<p>A page</p>"));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "load-extensions-"));
  browsers = new AsyncDisposableStack();
});
afterEach(async () => {
  await browsers.disposeAsync();
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});
afterAll(() => new Promise((resolve) => site.close(resolve)));

/**
 * Its content script asks its service worker, and writes the answer into the page. It also has the page of new tabs.
 */
const writeExtension = async (name: string, manifest: object = {}): Promise<{ name: string; folder: string }> => {
  const own = join(folder, name);
  await mkdir(own);
  const files = {
    "manifest.json": JSON.stringify({
      manifest_version: 3,
      name,
      version: "1.0",
      background: { service_worker: "worker.js" },
      content_scripts: [{ matches: ["<all_urls>"], js: ["content.js"] }],
      chrome_url_overrides: { newtab: "tab.html" },
      ...manifest,
    }),
    "worker.js": `chrome.runtime.onMessage.addListener((_message, _sender, answer) => answer("worker of ${name}"));`,
    "content.js": `chrome.runtime.sendMessage("hello").then((answer) => { document.body.dataset.${name} = answer; });`,
    "tab.html": `<title>${name}</title>`,
  };
  for (const [file, text] of Object.entries(files)) await writeFile(join(own, file), text);
  return { name, folder: own };
};

const startBrowser = async (headless: boolean, profile: string) => {
  const groupsFile = join(folder, "groups");
  const profileDir = join(folder, profile);
  const env: Record<string, string> = { HOME: folder, TMPDIR: folder, DBUS_SESSION_BUS_ADDRESS: "disabled:" };
  const screen = headless
    ? undefined
    : await startVirtualScreen({ program: programs.Xvfb, viewport, folder, env, groupsFile }, signal);
  if (screen) browsers.defer(() => screen.process.end(500));
  const chromium = await startGroupProcess(
    {
      name: "Chromium",
      program: programs.chromium,
      args: chromiumFlags(
        { headless, kiosk_mode: false, viewport },
        { profileDir, shell: false, sandbox: false, smallSharedMemory: true, parts: { devToolsPort: 0, flags: [] } },
      ),
      env: { ...env, PATH: process.env.PATH ?? "", ...screen?.env },
      readyPattern: /DevTools listening on (ws:\/\/127\.0\.0\.1:\d+\/\S+)/,
      readyFd: 2,
      startDeadlineMs: 30_000,
      groupsFile,
    },
    signal,
  );
  browsers.defer(() => chromium.end(2000));
  const cdp = browsers.use(await connectDevTools(placeOf(chromium.ready, undefined)));
  const client = async () => {
    const connected = await puppeteer.connect({ browserWSEndpoint: chromium.ready, defaultViewport: null });
    browsers.defer(() => connected.disconnect());
    return connected;
  };
  return { cdp, client, end: () => chromium.end(2000) };
};

/** What the extensions wrote into a page. */
const marksOf = async (page: Page, marks: number): Promise<Record<string, string>> => {
  await page.goto(siteUrl);
  return eventually(`the marks of ${marks} extensions`, async () => {
    const found = (await page.evaluate("({ ...document.body.dataset })")) as Record<string, string>;
    return Object.keys(found).length === marks ? found : undefined;
  });
};

const both = { first: "worker of first", second: "worker of second" };

// EXTENSION-3
describe.each([
  ["headless", true],
  ["headful", false],
])("a %s browser", (_title, headless) => {
  test("runs content scripts and service workers, also in contexts that a client makes", async () => {
    const extensions = [await writeExtension("first"), await writeExtension("second")];
    const { cdp, client } = await startBrowser(headless, "profile");
    expect(new Set(await loadExtensions(extensions, cdp)).size).toBe(2);
    const browser = await client();
    expect(await marksOf(await browser.newPage(), 2)).toEqual(both);
    const context = await browser.createBrowserContext();
    expect(await marksOf(await context.newPage(), 2)).toEqual(both);
  });
});

// EXTENSION-3
describe("a headless browser", () => {
  test.each([
    ["first", "second"],
    ["second", "first"],
  ])("loads %s before %s, and the later one has the page of new tabs", async (...order) => {
    const extensions = [];
    for (const name of order) extensions.push(await writeExtension(name));
    const { cdp, client } = await startBrowser(true, "profile");
    await loadExtensions(extensions, cdp);
    const page = await (await client()).newPage();
    await page.goto("chrome://newtab/");
    await eventually("the new tab", async () => (await page.title()) === order[1]);
  });

  test("has only its own extensions in a profile that had another one", async () => {
    const first = await writeExtension("first");
    const earlier = await startBrowser(true, "profile");
    await loadExtensions([first], earlier.cdp);
    expect(await marksOf(await (await earlier.client()).newPage(), 1)).toEqual({ first: both.first });
    await earlier.end();
    const { cdp, client } = await startBrowser(true, "profile");
    await loadExtensions([await writeExtension("second")], cdp);
    expect(await marksOf(await (await client()).newPage(), 1)).toEqual({ second: both.second });
  });

  test("says which extension it does not take, and why", async () => {
    const { cdp } = await startBrowser(true, "profile");
    const old = await writeExtension("old", { manifest_version: 2, background: { scripts: ["worker.js"] } });
    await expect(loadExtensions([old], cdp)).rejects.toThrow(/extension old: .*manifest version/);
    const gone = { name: "gone", folder: join(folder, "nowhere") };
    await expect(loadExtensions([gone], cdp)).rejects.toThrow("extension gone");
  });

  // EXTENSION-14
  test("takes and refuses what the check of an upload takes and refuses", async () => {
    const { cdp } = await startBrowser(true, "profile");
    const taken: string[] = [];
    for (const [index, one] of namedFilesCases.entries()) {
      const own = join(folder, `case-${index}`);
      const manifest = JSON.stringify({ manifest_version: 3, name: "x", version: "1", ...one.fields });
      for (const [file, text] of Object.entries({ ...filesOf(one), "manifest.json": manifest })) {
        await mkdir(dirname(join(own, file)), { recursive: true });
        await writeFile(join(own, file), text);
      }
      const loaded = await loadExtensions([{ name: one.what, folder: own }], cdp).catch((error: Error) => error);
      if (!(loaded instanceof Error)) taken.push(one.what);
      else expect(loaded).toBeInstanceOf(SetupRefused);
    }
    expect(taken).toEqual(namedFilesCases.filter(({ refused }) => refused === undefined).map(({ what }) => what));
  });
});
