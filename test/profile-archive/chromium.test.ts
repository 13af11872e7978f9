/** What a real Chromium finds again of what another one has stored. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Browser, Page } from "puppeteer-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { profileFlags } from "../../src/agent/profile-flags.ts";
import { packProfile } from "../../src/profile-archive/pack-profile.ts";
import { unpackProfile } from "../../src/profile-archive/unpack-profile.ts";
import { createTestAgents } from "../support/agent-process.ts";
import { launchChromium } from "../support/plain-chromium.ts";

const worker = `
  self.addEventListener("install", () => self.skipWaiting());
  self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
  self.addEventListener("fetch", (event) => {
    if (new URL(event.request.url).pathname === "/from-worker") event.respondWith(new Response("the worker"));
  });`;

/** A site with a login: one cookie for a day, one for the session. */
const startSite = async (): Promise<{ server: Server; url: string }> => {
  const server = createServer((request, response) => {
    if (request.url === "/login")
      response.setHeader("Set-Cookie", ["day=1; Max-Age=86400; HttpOnly; Path=/", "session=1; HttpOnly; Path=/"]);
    const isWorker = request.url === "/worker.js";
    response.setHeader("Content-Type", isWorker ? "text/javascript" : "text/html");
    if (request.url === "/cookies") response.end(request.headers.cookie ?? "none");
    else response.end(isWorker ? worker : "the server");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

let folder: string;
let site: Awaited<ReturnType<typeof startSite>>;
let browsers: Browser[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "profile-chromium-"));
  site = await startSite();
  browsers = [];
});
afterEach(async () => {
  for (const browser of browsers) await browser.close().catch(() => undefined);
  site.server.closeAllConnections();
  site.server.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

const start = async (profileDir: string, more: readonly string[] = []): Promise<{ browser: Browser; page: Page }> => {
  const browser = await launchChromium(profileDir, more);
  browsers.push(browser);
  return { browser, page: await browser.newPage() };
};

/** As text: the types of pages are not those of these tests. */
const stores = `(async () => {
  localStorage.setItem("stored", "locally");
  const opened = indexedDB.open("database", 1);
  opened.onupgradeneeded = () => opened.result.createObjectStore("objects");
  await new Promise((resolve) => (opened.onsuccess = resolve));
  const write = opened.result.transaction("objects", "readwrite");
  write.objectStore("objects").put("indexed", "key");
  await new Promise((resolve) => (write.oncomplete = resolve));
  await navigator.serviceWorker.register("/worker.js");
  await navigator.serviceWorker.ready;
})()`;

const reads = `(async () => {
  const opened = indexedDB.open("database", 1);
  const isNew = await new Promise((resolve) => {
    opened.onupgradeneeded = () => resolve(true);
    opened.onsuccess = () => resolve(false);
  });
  const read = isNew ? undefined : opened.result.transaction("objects").objectStore("objects").get("key");
  if (read) await new Promise((resolve) => (read.onsuccess = resolve));
  return {
    cookies: (await (await fetch("/cookies")).text()).split("; ").sort(),
    stored: localStorage.getItem("stored"),
    indexed: read?.result ?? null,
    answer: await (await fetch("/from-worker")).text(),
  };
})()`;

const logIn = async (page: Page): Promise<void> => {
  await page.goto(`${site.url}/login`);
  await page.evaluate(stores);
};

/** What the site finds in a browser, without anything of it being set. */
const found = async (page: Page): Promise<unknown> => {
  await page.goto(site.url);
  return page.evaluate(reads);
};

const signal = AbortSignal.timeout(60_000);

// PROFILE-20
test("a browser leaves a profile that the next one is logged in with", async () => {
  const first = await start(join(folder, "first"));
  await logIn(first.page);
  // Not by a signal: after SIGTERM, cookies and local storage of the last seconds were missing.
  await first.browser.close();
  await mkdir(join(folder, "second"), { mode: 0o700 });
  await unpackProfile(
    { archive: packProfile(join(folder, "first"), { signal }), folder: join(folder, "second") },
    { signal },
  );
  await rm(join(folder, "first"), { recursive: true });

  const second = await start(join(folder, "second"), profileFlags);
  expect((await second.browser.pages()).map((page) => page.url())).toEqual(["about:blank", "about:blank"]);
  expect(await found(second.page)).toEqual({
    cookies: ["day=1", "session=1"],
    stored: "locally",
    indexed: "indexed",
    answer: "the worker",
  });
});

/** The archive of a profile that is logged in. */
const loggedIn = async (): Promise<Buffer> => {
  const first = await start(join(folder, "first"));
  await logIn(first.page);
  await first.browser.close();
  return buffer(packProfile(join(folder, "first"), { signal }));
};

// PROFILE-4, PROFILE-20
test.each([true, false])(
  "an agent starts its browser with the profile, each time anew; headless: %s",
  async (headless) => {
    const archive = await loggedIn();
    const profile = { sha256: createHash("sha256").update(archive).digest("hex"), bytes: archive.length };
    await using agents = createTestAgents();
    const agent = await agents.start({ headless }, { setup: { profile }, archives: [archive] });
    for (const seq of [1, 2]) {
      await agent.bind(`s${seq}`, seq);
      const browser = await agent.connect(`s${seq}`);
      const page = await browser.newPage();
      expect(await found(page)).toMatchObject({
        cookies: ["day=1", "session=1"],
        stored: "locally",
        answer: "the worker",
      });
      // Nothing of this holder is there for the next one.
      await page.evaluate(`localStorage.setItem("stored", "by the first holder")`);
      await browser.disconnect();
      await agent.release(`s${seq}`, seq, "reset");
      await agent.call("GET", "/reset");
    }
  },
);

test("without the profile the site finds nothing of it", async () => {
  const { page } = await start(join(folder, "other"), profileFlags);
  expect(await found(page)).toEqual({ cookies: ["none"], stored: null, indexed: null, answer: "the server" });
});
