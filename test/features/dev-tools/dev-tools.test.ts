/** Clients of CDP that get an http URL, and what they ask for below it. */
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Target } from "../../../src/features/dev-tools/calls.ts";
import { filledPool } from "../../support/filled-pool.ts";
import { connectPlaywright } from "../../support/playwright.ts";
import { withCdp } from "../../support/raw-cdp.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";

type Session = { session_id: string; cdp_ws_url: string; base_url: string; browser_live_view_url: string };

let stack: LocalProject;
let poolId: string;
let session: Session;
beforeAll(async () => {
  stack = await startProject();
  poolId = (await filledPool(stack.kernel, { size: 1 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());
beforeEach(async () => {
  session = (await stack.kernel.browserPools.acquire(poolId, { acquire_timeout_seconds: 60 })) as Session;
  return () => stack.kernel.browserPools.release(poolId, { session_id: session.session_id }).catch(() => undefined);
});

const tokenOf = (url: string): string => new URL(url).searchParams.get("jwt") ?? "";

/** The URL that clients get. */
const httpUrl = (token = tokenOf(session.cdp_ws_url)): string => `${session.base_url}?jwt=${token}`;

/** What is below it. */
const below = (path: string, token?: string): string => {
  const url = new URL(httpUrl(token));
  url.pathname += path;
  return url.href;
};

const json = async <T>(url: string): Promise<T> => {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return response.json() as Promise<T>;
};

// DEVTOOLS-1
test("Playwright and Puppeteer connect by it", async () => {
  const byPlaywright = await connectPlaywright(httpUrl());
  const page = await byPlaywright.contexts()[0]?.newPage();
  await page?.goto("data:text/html,<title>found</title>");
  const byPuppeteer = await puppeteer.connect({ browserURL: httpUrl() });
  expect(await Promise.all((await byPuppeteer.pages()).map((each) => each.title()))).toContain("found");
  await byPuppeteer.disconnect();
  await byPlaywright.close();
});

// DEVTOOLS-2
test("Playwright connects by the session's address at the API, with a key", async () => {
  const url = `${stack.url}/browsers/${session.session_id}`;
  const headers = { Authorization: `Bearer ${stack.api_key}` };
  const browser = await connectPlaywright(url, { headers });
  expect(browser.contexts()).toHaveLength(1);
  await browser.close();
});

// DEVTOOLS-1
test("the socket is the session's, on the address by which the caller came", async () => {
  const version = await json<Record<string, string>>(below("/json/version"));
  expect(version).toEqual({
    Browser: expect.stringMatching(/^(Headless)?Chrome\/\d+\./),
    "Protocol-Version": "1.3",
    "User-Agent": expect.stringContaining("Mozilla/5.0"),
    "V8-Version": expect.stringMatching(/^\d+\./),
    webSocketDebuggerUrl: session.cdp_ws_url,
  });
  const other = below("/json/version/").replace("127.0.0.1", "localhost");
  expect(other).toContain("//localhost:");
  expect((await json<Record<string, string>>(other)).webSocketDebuggerUrl).toBe(
    session.cdp_ws_url.replace("127.0.0.1", "localhost"),
  );
});

// DEVTOOLS-1, DEVTOOLS-3
test("the list is that of CDP, without sockets, and long titles and URLs are cut", async () => {
  await withCdp(session.cdp_ws_url, async (cdp) => {
    const title = "t".repeat(10_000);
    await cdp.send("Target.createTarget", { url: `data:text/html,<title>${title}</title>` });
    const seen = async () => {
      const { targetInfos } = (await cdp.send("Target.getTargets", {})) as {
        targetInfos: { targetId: string; type: string; title: string; url: string }[];
      };
      return targetInfos.map(({ targetId: id, type, title: own, url }) => ({
        ...{ id, type },
        ...{ title: own.slice(0, 4096), url: url.slice(0, 4096) },
      }));
    };
    const sorted = (list: Target[]) => list.sort((a, b) => (a.id < b.id ? -1 : 1));
    await expect
      .poll(async () => (await json<Target[]>(below("/json/list"))).some((each) => each.title.startsWith("ttt")))
      .toBe(true);
    const listed = sorted(await json<Target[]>(below("/json/list")));
    expect(listed).toEqual(sorted(await seen()));
    expect(Math.max(...listed.flatMap(({ title: one, url }) => [one.length, url.length]))).toBe(4096);
    expect(sorted(await json<Target[]>(below("/json")))).toEqual(listed);
  });
});

// DEVTOOLS-2
test("another token is refused, and an ended session is gone", async () => {
  const ended = session;
  for (const path of ["/json/version", "/json/list", "/json"]) {
    expect((await fetch(below(path, ""))).status).toBe(401);
    expect((await fetch(below(path, "none"))).status).toBe(401);
    // That of the live view opens the live view.
    expect((await fetch(below(path, tokenOf(ended.browser_live_view_url)))).status).toBe(401);
  }
  const url = below("/json/version");
  await stack.kernel.browserPools.release(poolId, { session_id: ended.session_id });
  expect((await fetch(url)).status).toBe(404);
});
