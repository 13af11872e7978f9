/** Pools, sessions and their stories in the console: a real browser, over the real service. */
import type { Page } from "puppeteer-core";
import puppeteer from "puppeteer-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BrowserPoolSpec, browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { axeFindings } from "../../support/axe-findings.ts";
import { eventually } from "../../support/eventually.ts";
import { filledPool } from "../../support/filled-pool.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { fill, press, tick } from "./console-actions.ts";
import { openWindows, textOf, untilText } from "./console-page.ts";

let stack: LocalProject;
let viewers: ViewBrowser;
beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const windows = openWindows();
afterEach(async () => {
  for (const { metadata } of (await stack.kube.list(browserPoolKind, { namespace: stack.namespace })).items)
    await stack.call("DELETE", `/browser_pools/${metadata.name}`, { force: true });
  await windows.close();
});

/** Opens a view, signed in with the project's key. */
const open = (path: string, key = stack.api_key): Promise<Page> => windows.open(viewers, { url: stack.url, key, path });

const key = async (permissions: string[]): Promise<string> => {
  const made = await fetch(`${stack.url}/org/api_keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.organization_key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "some rights", project_id: stack.project, permissions }),
  });
  return ((await made.json()) as { key: string }).key;
};

describe("pools", () => {
  test("a person makes a pool by keyboard alone, sees it fill, changes it, and deletes it", async () => {
    const page = await open("/pools");
    await untilText(page, /This project has no pool/);
    expect(await axeFindings(page)).toEqual([]);
    const focusOn = async (name: string): Promise<void> => {
      for (let steps = 0; steps < 60; steps += 1) {
        const focused = await page.evaluate(
          "document.activeElement.innerText || document.activeElement.labels?.[0]?.innerText || ''",
        );
        if (String(focused).trim().startsWith(name)) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`the keyboard does not come to ${name}`);
    };
    await focusOn("Make a pool");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open]");
    await focusOn("Name");
    await page.keyboard.type("by-hand");
    await focusOn("Size");
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
    await page.keyboard.type("1");
    await focusOn("Fill rate");
    await page.keyboard.type("6000");
    await focusOn("Headless");
    await page.keyboard.press("Space");
    expect(await axeFindings(page)).toEqual([]);
    await focusOn("Make the pool");
    await page.keyboard.press("Enter");
    await untilText(page, /Ready\s+Wanted 1, ready 1/);
    const [pool] = await stack.kernel.browserPools.list({ name: "by-hand" } as object).then(({ items }) => items);
    expect(pool?.browser_pool_config).toMatchObject({ name: "by-hand", size: 1, headless: true });
    expect(await page.title()).toBe("by-hand · Browserpool");
    expect(await axeFindings(page)).toEqual([]);

    await press(page, "Change");
    await page.waitForSelector("dialog[open]");
    await page.locator("dialog input[type=number]").fill("2");
    await untilText(page, /size\s+1\s+2/, "dialog");
    expect(await axeFindings(page)).toEqual([]);
    // Somebody else changes another field meanwhile.
    await stack.kernel.browserPools.update("by-hand", { timeout_seconds: 123 });
    await press(page, "Save the change");
    await untilText(page, /Wanted 2/);
    const changed = await stack.kernel.browserPools.retrieve("by-hand");
    expect(changed.browser_pool_config).toMatchObject({ size: 2, timeout_seconds: 123 });

    await press(page, "Delete");
    await page.waitForSelector("dialog[open]");
    expect(await axeFindings(page)).toEqual([]);
    await press(page, "Delete the pool");
    await untilText(page, /This project has no pool/);
    expect((await stack.call("GET", "/browser_pools/by-hand")).status).toBe(404);
  });

  test("a change of what somebody else has changed meanwhile is said, before it is saved", async () => {
    const pool = await stack.kernel.browserPools.create({ name: "shared", size: 1, fill_rate_per_minute: 0 });
    const page = await open(`/pools/${pool.id}`);
    await press(page, "Change");
    await page.waitForSelector("dialog[open]");
    await page.locator("dialog input[type=number]").fill("3");
    await stack.kernel.browserPools.update(pool.id, { size: 2 });
    await untilText(page, /Somebody else has changed size/, "dialog");
    await untilText(page, /size\s+2\s+3/, "dialog");
    await page.keyboard.press("Escape");
  });

  test("a pool that is refused, paused or without a node says why, and the API's errors name the field", async () => {
    await stack.kube.create(browserPoolKind, {
      metadata: { namespace: stack.namespace, name: "refused" },
      spec: { size: 100_000 } as never,
    });
    const page = await open("/pools");
    await untilText(page, /refused\s+■ Refused.*limit/);
    expect(await axeFindings(page)).toEqual([]);
    await press(page, "refused");
    await untilText(page, /Wanted 100000, ready 0, because .*limit/);
    await untilText(page, /Events[\s\S]*limit/);
    await press(page, "Pools");
    await press(page, "Make a pool");
    await page.waitForSelector("dialog[open]");
    await page.locator("dialog input[type=number]").fill("99999");
    await press(page, "Make the pool");
    await untilText(page, /size: .*limit/, "dialog [role=alert]");
    expect(await axeFindings(page)).toEqual([]);
  });

  // GITOPS-4
  test("a pool that Git owns says so and offers no change", async () => {
    const annotations = { "browserpool.dev/managed-by": "git" };
    await stack.kube.create(browserPoolKind, {
      metadata: { namespace: stack.namespace, name: "from-git", annotations },
      spec: BrowserPoolSpec.parse({ size: 1, headless: true, fillRatePerMinute: 0 }),
    });
    const page = await open("/pools/from-git");
    await untilText(page, /Managed by git: it is changed there/);
    const offered = await page.$$eval(".view-head button, main button", (all) => all.map((one) => one.textContent));
    expect(offered).toContain("As code");
    for (const word of ["Change", "Flush", "Discard idle browsers", "Delete"]) expect(offered).not.toContain(word);
    expect(await axeFindings(page)).toEqual([]);
    await stack.kube.delete(browserPoolKind, { namespace: stack.namespace, name: "from-git" });
  });

  test("the YAML, the curl and the SDK that a pool shows make the same pool", async () => {
    const made = await stack.kernel.browserPools.create({
      ...{ name: "shown", size: 1, fill_rate_per_minute: 0, headless: true, viewport: { width: 800, height: 600 } },
      chrome_policy: { PasswordManagerEnabled: false, URLBlocklist: ["blocked_host.example"] },
    });
    const page = await open(`/pools/${made.id}`);
    await press(page, "As code");
    const yaml = await untilText(page, /kind: BrowserPool/, "dialog pre");
    const { parse } = await import("yaml");
    const manifest = parse(yaml);
    await stack.kernel.browserPools.delete(made.id, {});
    manifest.metadata.namespace = stack.namespace;
    await stack.kube.create(browserPoolKind, manifest);
    const again = await stack.kernel.browserPools.retrieve("shown");
    expect(again.browser_pool_config).toEqual(made.browser_pool_config);
  });
});

describe("sessions", () => {
  const telemetry = {
    browser: Object.fromEntries(
      ["console", "network", "page", "connection", "system"].map((category) => [category, { enabled: true }]),
    ),
  };

  test("a session appears when it begins, tells its story, and ends by a button", async () => {
    const pool = await filledPool(stack.kernel, { name: "checkout", size: 1, viewport: { width: 800, height: 600 } });
    const page = await open("/sessions");
    await untilText(page, /Nobody holds a browser/);
    expect(await axeFindings(page)).toEqual([]);
    const acquire = (name: string) =>
      stack.kernel.browserPools.acquire(pool.id, { name, tags: { team: "shop" }, telemetry } as object);
    const session = await acquire("order-4711");
    await untilText(page, /order-4711\s+● Active\s+checkout\s+team=shop/);
    expect(await axeFindings(page)).toEqual([]);
    await press(page, "order-4711");
    await untilText(page, /Granted a browser of checkout (at once|after waiting \d+ ms)/);
    const holder = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
    const [tab] = await holder.pages();
    await tab?.goto(
      "data:text/html,<title>Shop</title><script>console.error('card was declined');fetch('http://127.0.0.1:3/x').catch(()=>0)</script>",
    );
    for (const told of [
      /A client connected over CDP/,
      /Went to data:text/,
      /card was declined/,
      /ERR_\w+ http:\/\/127\.0\.0\.1:3\/x/,
    ])
      await untilText(page, told);
    await untilText(page, /Memory, MiB [1-9]/);
    expect(await axeFindings(page)).toEqual([]);
    await holder.disconnect();
    await untilText(page, /A CDP client went/);
    expect(await textOf(page)).not.toMatch(/agent: /);
    await tick(page, "Log");
    await untilText(page, /agent: .*bound/);
    expect(await axeFindings(page)).toEqual([]);
    await press(page, "Give it more time");
    await fill(page, "Seconds without a connection", "4000");
    await press(page, "Change the time");
    await untilText(page, /Ends without a connection after\s+1 h 6 min/);
    expect(await stack.kernel.browsers.retrieve(session.session_id)).toMatchObject({ timeout_seconds: 4000 });

    const waiting = acquire("order-4712");
    const poolPage = await open(`/pools/${pool.id}`);
    await untilText(poolPage, /Queue[\s\S]*1\s+order-4712\s+\d+ s/);
    expect(await axeFindings(poolPage)).toEqual([]);

    await press(page, "End");
    await press(page, "End the session");
    await untilText(page, /Ended ended by a caller/);
    await untilText(page, /Ended: ended by a caller/);
    const next = await waiting;
    const story = await open(`/sessions/${next.session_id}`);
    await untilText(story, /Granted a browser of checkout after waiting/);
    const list = await open("/sessions?status=ended");
    await untilText(list, /order-4711\s+○ Ended ended by a caller/);
    expect(await axeFindings(list)).toEqual([]);
    await stack.kernel.browserPools.release(pool.id, { session_id: next.session_id });
    await untilText(story, /Ended released/);
  });

  test("the wall shows what browsers show, as often as it is asked for, and keeps none alive", async () => {
    const pool = await filledPool(stack.kernel, { size: 1, viewport: { width: 800, height: 500 } });
    const session = await stack.kernel.browserPools.acquire(pool.id, {
      start_url: "data:text/html,<body style='background:rgb(200,0,0)'>",
    });
    const page = await open("/sessions?as=wall");
    await eventually("the tile is red", async () => {
      const [red = 0, green = 255] = (await page
        .evaluate(
          `(() => { const canvas = document.querySelector(".tile canvas"); return [...canvas.getContext("2d").getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data]; })()`,
        )
        .catch(() => [])) as number[];
      return red > 150 && green < 60;
    });
    expect(await axeFindings(page)).toEqual([]);
    const link = await page.$eval(".tile .picture", (element) => element.getAttribute("href"));
    expect(link).toContain(`/gateway/${session.session_id}/live?jwt=`);
  });

  test("a stranger's names stay text, apart from what is around them, and break no layout at 320 pixels", async () => {
    const pool = await filledPool(stack.kernel, { size: 1 });
    const evil = `<img src=x onerror="document.title='scripted'">\u202Egnp.exe`;
    const tags = { [`${evil}`]: evil, long: "x".repeat(1000), ok: "a" };
    const session = await stack.kernel.browserPools.acquire(pool.id, { tags } as object);
    for (const path of ["/sessions", `/sessions/${session.session_id}`, `/pools/${pool.id}`]) {
      const page = await open(path);
      await page.setViewport({ width: 320, height: 640 });
      await page.setViewport({ width: 320, height: 640 });
      await untilText(page, /Active/);
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(320);
      expect(await page.title()).not.toBe("scripted");
      expect(await page.$$eval("main img", (images) => images.length)).toBe(0);
      expect(await page.content()).not.toContain("\u202E");
      expect(await axeFindings(page), path).toEqual([]);
    }
  });
});

describe("what a key may not do", () => {
  test("is not offered", async () => {
    const pool = await stack.kernel.browserPools.create({ name: "looked-at", size: 1, fill_rate_per_minute: 0 });
    const reader = await open(`/pools/${pool.id}`, await key(["pools:read"]));
    await untilText(reader, /looked-at/);
    const buttons = await reader.$$eval("main button", (all) => all.map(({ textContent }) => textContent));
    expect(buttons).toEqual(["As code"]);
    await press(reader, "Pools");
    await untilText(reader, /looked-at/);
    expect(await textOf(reader)).not.toContain("Make a pool");
    const other = await open("/pools", await key(["registry:read"]));
    await untilText(other, /lacks the permission pools:read/);
    expect(await axeFindings(other)).toEqual([]);
  });

  test("a key that is deleted ends its windows, with words", async () => {
    const made = await stack.call(
      "POST",
      "/org/api_keys",
      { name: "short", project_id: stack.project },
      {
        authorization: `Bearer ${stack.organization_key}`,
      },
    );
    const { id, key: short } = (await made.json()) as { id: string; key: string };
    const page = await open("/pools", short);
    await page.waitForSelector("main h1");
    await stack.call("DELETE", `/org/api_keys/${id}`, undefined, { authorization: `Bearer ${stack.organization_key}` });
    await press(page, "Sessions");
    await untilText(page, /session has ended; sign in again/);
  });
});
