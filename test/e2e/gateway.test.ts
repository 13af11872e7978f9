/** What a `cdp_ws_url` allows, to which caller, and how long. */
import { generateKeyPairSync } from "node:crypto";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signSessionToken } from "../../src/core/protocol/session-token.ts";
import { filledPool } from "../support/filled-pool.ts";
import { logTexts } from "../support/log-files.ts";
import { connectPlaywright } from "../support/playwright.ts";
import { connectRawCdp, cookieOf, setCookie, withCdp } from "../support/raw-cdp.ts";
import { upgrade, upgradeAt } from "../support/raw-http.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { websocketAccept } from "../support/websocket-accept.ts";

let stack: LocalProject;
let poolId: string;
const secrets = new Set<string>();
beforeAll(async () => {
  stack = await startProject();
  secrets.add(stack.api_key);
  poolId = (await filledPool(stack.kernel, { size: 1, reuse_policy: "keep" })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const acquire = async () => {
  const session = await stack.kernel.browserPools.acquire(poolId, { acquire_timeout_seconds: 30 });
  secrets.add(new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "");
  return session;
};

const release = (session_id: string, reuse = true): Promise<void> =>
  stack.kernel.browserPools.release(poolId, { session_id, reuse });

const using = async <T>(work: (session: Awaited<ReturnType<typeof acquire>>) => Promise<T>): Promise<T> => {
  const session = await acquire();
  try {
    return await work(session);
  } finally {
    await release(session.session_id).catch(() => undefined);
  }
};

/** The same URL with another token. */
const withToken = (url: string, token: string | undefined): string => {
  const other = new URL(url);
  if (token === undefined) other.searchParams.delete("jwt");
  else other.searchParams.set("jwt", token);
  return other.href;
};

// AUTH-19
test("a client in an extension or an app connects by the token of the URL, a page of another origin does not", async () => {
  const origin = "chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb";
  await using(async ({ cdp_ws_url, webdriver_ws_url, browser_live_view_url = "" }) => {
    for (const url of [cdp_ws_url, webdriver_ws_url]) expect((await upgrade(url, { origin })).status).toBe(101);
    expect((await upgrade(cdp_ws_url, { origin: "vscode-webview://1a2b3c" })).status).toBe(101);
    expect((await upgrade(withToken(cdp_ws_url, undefined), { origin })).status).toBe(401);
    expect((await upgrade(browser_live_view_url.replace(/^http/, "ws"), { origin })).status).toBe(403);
    for (const page of ["https://evil.example", "null", "file://"])
      expect((await upgrade(cdp_ws_url, { origin: page })).status, page).toBe(403);
  });
});

const statusOf = async (url: string): Promise<number> => (await upgrade(url)).status;

const refusal = { 401: "unauthorized", 404: "not_found" } as const;
const expectRefused = async (url: string, status: keyof typeof refusal): Promise<void> => {
  const answer = await upgrade(url);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.text)).toMatchObject({ code: refusal[status], message: expect.any(String) });
};

describe("a session's cdp_ws_url", () => {
  // LEASE-17
  test("works with Puppeteer", () =>
    using(async ({ cdp_ws_url }) => {
      const browser = await puppeteer.connect({ browserWSEndpoint: cdp_ws_url });
      const page = await browser.newPage();
      await page.goto("data:text/html,<title>by Puppeteer</title>");
      expect(await page.title()).toBe("by Puppeteer");
      await page.close();
      await browser.disconnect();
    }));

  // LEASE-17
  test("works with Playwright", () =>
    using(async ({ cdp_ws_url }) => {
      const browser = await connectPlaywright(cdp_ws_url);
      const page = await (browser.contexts()[0] ?? (await browser.newContext())).newPage();
      await page.goto("data:text/html,<h1>by Playwright</h1>");
      expect(await page.textContent("h1")).toBe("by Playwright");
      await page.close();
      await browser.close();
    }));

  // LEASE-17
  test("speaks plain CDP", () =>
    using(async ({ cdp_ws_url }) => {
      const { product } = await withCdp(cdp_ws_url, (cdp) => cdp.send<{ product: string }>("Browser.getVersion"));
      expect(product).toMatch(/Chrome/);
    }));

  // LEASE-17
  test("takes any key of visible characters up to its bound, as Chromium does without one", () =>
    using(async ({ cdp_ws_url }) => {
      const answerTo = (key: string) => upgrade(cdp_ws_url, { "sec-websocket-key": key });
      // go-rod's, and the longest.
      for (const key of ["nil", "k".repeat(256)]) {
        const answer = await answerTo(key);
        expect([answer.status, answer.headers["sec-websocket-accept"]]).toEqual([101, websocketAccept(key)]);
      }
      for (const key of ["", "a b", "k".repeat(257)]) expect((await answerTo(key)).status).toBe(400);
    }));

  // LEASE-17
  test("carries large messages both ways", () =>
    using(async ({ cdp_ws_url }) => {
      const long = "x".repeat(3_000_000);
      await withCdp(cdp_ws_url, async (cdp) => {
        const { targetId } = await cdp.send<{ targetId: string }>("Target.createTarget", { url: "about:blank" });
        const { sessionId } = await cdp.send<{ sessionId: string }>("Target.attachToTarget", {
          targetId,
          flatten: true,
        });
        const expression = `${JSON.stringify(long)} + "y"`;
        const { result } = await cdp.send<{ result: { value: string } }>("Runtime.evaluate", { expression }, sessionId);
        expect(result.value).toBe(`${long}y`);
        await cdp.send("Target.closeTarget", { targetId });
      });
    }));

  // LEASE-16
  test("works again after a disconnect, and for several connections at once", () =>
    using(async ({ cdp_ws_url }) => {
      await withCdp(cdp_ws_url, (cdp) => setCookie(cdp, "again", "yes"));
      const [a, b] = [await connectRawCdp(cdp_ws_url), await connectRawCdp(cdp_ws_url)];
      expect(await Promise.all([cookieOf(a, "again"), cookieOf(b, "again")])).toEqual(["yes", "yes"]);
      await a.close();
      expect(await cookieOf(b, "again")).toBe("yes");
      await b.close();
    }));

  // LEASE-15
  test("is the same at every read of the session", () =>
    using(async ({ session_id, cdp_ws_url }) => {
      expect((await stack.kernel.browsers.retrieve(session_id)).cdp_ws_url).toBe(cdp_ws_url);
    }));
});

describe("an upgrade is refused", () => {
  // LEASE-18
  test("with 401 without a token, with a forged one and with another session's token", async () => {
    const former = await acquire();
    await release(former.session_id);
    await using(async ({ cdp_ws_url, session_id }) => {
      const token = new URL(cdp_ws_url).searchParams.get("jwt") ?? "";
      const [head = "", claims = "", signature = ""] = token.split(".");
      const unsigned = Buffer.from('{"alg":"none"}').toString("base64url");
      const { privateKey } = generateKeyPairSync("ed25519");
      const poolUid = (JSON.parse(Buffer.from(claims, "base64url").toString()) as { pool: string }).pool;
      for (const bad of [
        undefined,
        "",
        "x",
        `${head}.${claims}.`,
        `${head}.${claims}.${signature.slice(1)}A`,
        `${unsigned}.${claims}.`,
        signSessionToken(privateKey, { sessionId: session_id, poolUid }),
        new URL(former.cdp_ws_url).searchParams.get("jwt") ?? "",
        stack.api_key,
      ])
        await expectRefused(withToken(cdp_ws_url, bad), 401);
      expect(await statusOf(cdp_ws_url)).toBe(101);
    });
  });

  test("with 404 at any other path, also with a valid token", () =>
    using(async ({ cdp_ws_url }) => {
      const { search, pathname } = new URL(cdp_ws_url);
      const other = [`${pathname}/page`, pathname.replace(/cdp$/, ""), pathname.toUpperCase(), `${pathname}%2f..`];
      for (const path of [...other, "/devtools/browser", "/cdp", "/lease"])
        expect((await upgradeAt(stack.url, path + search)).status).toBe(404);
    }));

  // LEASE-19, LEASE-14
  test("with 404 after the release, also when the same browser is leased again", async () => {
    const first = await acquire();
    await withCdp(first.cdp_ws_url, (cdp) => setCookie(cdp, "same", "browser"));
    await release(first.session_id);
    await expectRefused(first.cdp_ws_url, 404);
    await using(async ({ cdp_ws_url }) => {
      expect(await withCdp(cdp_ws_url, (cdp) => cookieOf(cdp, "same"))).toBe("browser");
      await expectRefused(first.cdp_ws_url, 404);
      expect(await statusOf(cdp_ws_url)).toBe(101);
    });
  });
});

describe("a connection is cut", () => {
  const ends: [string, (session_id: string) => Promise<unknown>][] = [
    ["with the release", (id) => release(id)],
    ["with a release that destroys the browser", (id) => release(id, false)],
    ["with the session's deletion", (id) => stack.kernel.browsers.deleteByID(id)],
  ];
  // LEASE-20, LEASE-19
  test.each(ends)("%s, and its URL is 404 from then on", async (_what, end) => {
    const { session_id, cdp_ws_url } = await acquire();
    const cdp = await connectRawCdp(cdp_ws_url);
    await end(session_id);
    await cdp.closed;
    await expectRefused(cdp_ws_url, 404);
  });

  test("with its browser", async () => {
    const { cdp_ws_url } = await acquire();
    const cdp = await connectRawCdp(cdp_ws_url);
    await cdp.send("Browser.close").catch(() => undefined);
    await cdp.closed;
    await using(({ cdp_ws_url: next }) => withCdp(next, (fresh) => fresh.send("Browser.getVersion")));
    await expectRefused(cdp_ws_url, 404);
  });

  // LEASE-20, POOL-14
  test("with a pool that is deleted by force", async () => {
    const { id } = await filledPool(stack.kernel);
    const { cdp_ws_url } = await stack.kernel.browserPools.acquire(id, {});
    const cdp = await connectRawCdp(cdp_ws_url);
    await stack.kernel.browserPools.delete(id, { force: true });
    await cdp.closed;
    expect(await statusOf(cdp_ws_url)).toBe(404);
  });
});

// LEASE-19
test("late calls for an ended session do not affect the next lease of its browser", async () => {
  const former = await acquire();
  await release(former.session_id);
  await using(async ({ session_id, cdp_ws_url }) => {
    const cdp = await connectRawCdp(cdp_ws_url);
    await setCookie(cdp, "mine", "still");
    const notFound = { status: 404 };
    await expect(release(former.session_id)).rejects.toMatchObject(notFound);
    await expect(release(former.session_id, false)).rejects.toMatchObject(notFound);
    await expect(stack.kernel.browsers.deleteByID(former.session_id)).rejects.toMatchObject(notFound);
    await expectRefused(former.cdp_ws_url, 404);
    expect(await cookieOf(cdp, "mine")).toBe("still");
    expect(await stack.kernel.browsers.retrieve(session_id)).toMatchObject({ session_id });
    await cdp.close();
  });
});

// AUTH-10
test("log files contain no key and no token of these tests", async () => {
  await fetch(`${stack.url}/browser_pools?jwt=${stack.api_key}`, { headers: { authorization: "Bearer wrong-key-1" } });
  secrets.add("wrong-key-1");
  const texts = await logTexts(stack.dataDir);
  expect(texts.join("").length).toBeGreaterThan(10_000);
  expect(secrets.size).toBeGreaterThan(10);
  for (const secret of secrets) {
    expect(secret).not.toBe("");
    expect(texts.some((text) => text.includes(secret))).toBe(false);
  }
  expect(texts.some((text) => /eyJ[\w-]+\.eyJ[\w-]+\./.test(text))).toBe(false);
});
