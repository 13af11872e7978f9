import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestAgents, type TestAgent } from "../../support/agent-process.ts";
import { eventually } from "../../support/eventually.ts";

const agents = createTestAgents();
let site: Server;
let siteUrl: string;
let visits: string[];

beforeAll(async () => {
  site = createServer((request, response) => {
    visits.push(request.url ?? "");
    response.end("<title>A page</title>");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
beforeEach(() => {
  visits = [];
});
afterEach(() => agents[Symbol.asyncDispose]());
afterAll(() => new Promise((resolve) => site.close(resolve)));

type Sizes = { inner: number[]; outer: number[]; screen: number[] };

/** An expression, because this program's types have no `window`. */
const readSizes =
  "({ inner: [innerWidth, innerHeight], outer: [outerWidth, outerHeight], screen: [screen.width, screen.height] })";

const sizes = async (page: Page): Promise<Sizes> => (await page.evaluate(readSizes)) as Sizes;

/** A client that connects while a page loads can miss that page; then another client is used. */
const firstPage = (agent: TestAgent): Promise<Page> =>
  eventually("the browser's first page", async () => {
    const client = await agent.connect("s");
    const [page] = await client.pages();
    if (!page) await client.disconnect();
    return page;
  });

// BROWSER-15
test("a headless browser gives every page the viewport", async () => {
  const agent = await agents.start({ viewport: { width: 1001, height: 703, refresh_rate: 30 } });
  await agent.bind("s", 1);
  const page = await firstPage(agent);
  const context = await page.browser().createBrowserContext();
  for (const each of [page, await page.browser().newPage(), await context.newPage()]) {
    expect((await sizes(each)).inner).toEqual([1001, 703]);
  }
});

/** The middle of the times between frames that a page draws within 2.5 s, as a rate in Hz. */
const measureRate = async (page: Page): Promise<number> =>
  (await page.evaluate(`new Promise((resolve) => {
    const times = [];
    const draw = (time) => {
      times.push(time);
      if (time - times[0] < 2500) return requestAnimationFrame(draw);
      const gaps = times.slice(1).map((each, index) => each - times[index]).sort((a, b) => a - b);
      resolve(1000 / gaps[gaps.length >> 1]);
    };
    requestAnimationFrame(draw);
  })`)) as number;

// BROWSER-17
test.each([10, 25, 60])("a headful browser draws at the viewport's refresh rate, %d Hz", async (refresh_rate) => {
  const agent = await agents.start({ headless: false, viewport: { width: 1920, height: 1080, refresh_rate } });
  await agent.bind("s", 1);
  const measured = await measureRate(await firstPage(agent));
  expect(measured).toBeGreaterThan(refresh_rate * 0.9);
  expect(measured).toBeLessThan(refresh_rate * 1.1);
});

// BROWSER-15
test.each([
  ["with policies", {}, { setup: { policy: { BookmarkBarEnabled: false } } }],
  ["with stealth", { stealth: true }, {}],
])("a headless browser %s, the full one, gives every page the viewport", async (_, settings, more) => {
  const agent = await agents.start({ ...settings, viewport: { width: 1001, height: 703 } }, more);
  await agent.bind("s", 1);
  const first = await firstPage(agent);
  const browser = first.browser();
  const context = await browser.createBrowserContext();
  // Each is looked at before the next one covers it: a covered tab does not know its window.
  for (const open of [() => first, () => browser.newPage(), () => context.newPage()]) {
    const page = await open();
    const expected = { inner: [1001, 703], outer: [1001, 790], screen: [1001, 790] };
    await expect.poll(() => sizes(page)).toEqual(expected);
  }
});

describe("a headful browser", () => {
  // BROWSER-15, BROWSER-18
  test("has a screen of the viewport's size, and its window fills all but the last row", async () => {
    const agent = await agents.start({ headless: false, viewport: { width: 1024, height: 768 } });
    await agent.bind("s", 1);
    const page = await firstPage(agent);
    const { inner, outer, screen } = await sizes(page);
    expect(screen).toEqual([1024, 768]);
    expect(outer).toEqual([1024, 767]);
    expect(inner[0]).toBe(1024);
    expect(inner[1]).toBeLessThan(767);
    expect(await page.browser().version()).not.toContain("Headless");
  });

  // BROWSER-23
  test("that is told of a GPU starts also where the GPU can't be used", async () => {
    const agent = await agents.start({ headless: false, gpu: true });
    await agent.bind("s", 1);
    const page = await firstPage(agent);
    const processes = agent.groups().map((group) => readFileSync(`/proc/${group}/cmdline`, "utf8"));
    expect(processes.join()).toContain("--use-angle=vulkan");
    expect(processes.join()).not.toContain("--disable-gpu\0");
    await page.setContent("<title>Drawn</title>");
    expect(await page.title()).toBe("Drawn");
  });

  // BROWSER-19
  test("in kiosk mode shows the page alone", async () => {
    const agent = await agents.start({ headless: false, kiosk_mode: true, viewport: { width: 1024, height: 768 } });
    await agent.bind("s", 1);
    const page = await firstPage(agent);
    expect((await sizes(page)).inner).toEqual([1024, 767]);
  });

  test("keeps running after its last tab closes", async () => {
    const agent = await agents.start({ headless: false });
    await agent.bind("s", 1);
    const page = await firstPage(agent);
    await page.close();
    const next = await page.browser().newPage();
    await next.setContent("<title>Still here</title>");
    expect(await next.title()).toBe("Still here");
  });
});

describe("the start URL", () => {
  // BROWSER-20
  test("of the pool is open in the browser's first page", async () => {
    const agent = await agents.start({ start_url: `${siteUrl}/pool` });
    await expect.poll(() => visits).toContain("/pool");
    await agent.bind("s", 1);
    const page = await firstPage(agent);
    await expect.poll(() => page.title()).toBe("A page");
    expect(page.url()).toBe(`${siteUrl}/pool`);
  });

  // LEASE-8
  test("of a lease opens at the bind and replaces what was open", async () => {
    const agent = await agents.start();
    await agent.bind("s", 1, { start_url: `${siteUrl}/lease` });
    await expect.poll(() => visits).toContain("/lease");
    const page = await firstPage(agent);
    await expect.poll(() => page.url()).toBe(`${siteUrl}/lease`);
  });

  // LEASE-8
  test("that can't be opened does not prevent the lease", async () => {
    const agent = await agents.start({ start_url: "no url at all" });
    expect((await agent.bind("s", 1, { start_url: "http://127.0.0.1:1/" })).status).toBe(200);
    expect(await (await agent.connect("s")).version()).toContain("Chrome");
  });
});
