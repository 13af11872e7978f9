/** The viewport of a browser that its holder changes while it runs. */
import type { Browser, Page } from "puppeteer-core";
import { afterEach, expect, test } from "vitest";
import type { BrowserConfig } from "../../../src/core/protocol/agent-api.ts";
import { createTestAgents, type StartOptions } from "../../support/agent-process.ts";
import { changeBrowser } from "../../support/change-agent.ts";

const agents = createTestAgents();
afterEach(() => agents[Symbol.asyncDispose]());

/** An expression, because this program's types have no `window`. */
const readSizes =
  "({ inner: [innerWidth, innerHeight], outer: [outerWidth, outerHeight], screen: [screen.width, screen.height] })";
const showsSizes = (page: Page, expected: object) =>
  expect.poll(() => page.evaluate(readSizes)).toMatchObject(expected);

/** A page that is there, and those that are opened later: in the same window, in another context, and by a page. */
const showEverywhere = async (browser: Browser, expected: object): Promise<void> => {
  const context = await browser.createBrowserContext();
  const first = (await browser.pages())[0] as Page;
  // A tab that another one covers learns of its window when it comes to the front.
  await first.bringToFront();
  for (const open of [async () => first, () => browser.newPage(), () => context.newPage()])
    await showsSizes(await open(), expected);
  await context.close();
};

const kinds: [string, Partial<BrowserConfig>, StartOptions, (width: number, height: number) => object][] = [
  [
    "of the headless shell",
    { headless: true },
    {},
    (width, height) => ({ inner: [width, height], outer: [width, height], screen: [width, height] }),
  ],
  [
    "of the full browser without a screen",
    { headless: true },
    { setup: { policy: { BookmarkBarEnabled: false } } },
    (width, height) => ({ inner: [width, height], outer: [width, height + 87], screen: [width, height + 87] }),
  ],
  [
    "of a headful browser",
    { headless: false },
    {},
    (width, height) => ({ outer: [width, height - 1], screen: [width, height] }),
  ],
];

// BROWSER-24
test.each(kinds)(
  "%s changes in all pages and in later ones, and is the first one again after the lease",
  async (_, browser, more, sizes) => {
    const viewport = { width: 1200, height: 900, refresh_rate: 60 };
    const agent = await agents.start({ ...browser, viewport }, more);
    for (const seq of [1, 2]) {
      await agent.bind(`s${seq}`, seq);
      const client = await agent.connect(`s${seq}`);
      await showEverywhere(client, sizes(1200, 900));
      for (const [width, height] of [
        [800, 600],
        [1100, 700],
        [1200, 900],
        [640, 480],
      ] as const) {
        expect(await changeBrowser(agent, seq, { viewport: { width, height, refresh_rate: 60 } })).toMatchObject({
          status: 200,
        });
        await showEverywhere(client, sizes(width, height));
      }
      await client.disconnect();
      // Also where its pool hands browsers on as they stand.
      await agent.release(`s${seq}`, seq, seq === 1 ? "keep" : "reset");
      await agent.call("GET", "/reset");
    }
  },
);

// BROWSER-24
test("of a headful browser in kiosk mode changes, and shows the page alone", async () => {
  const agent = await agents.start({
    headless: false,
    kiosk_mode: true,
    viewport: { width: 1200, height: 900, refresh_rate: 60 },
  });
  await agent.bind("s1", 1);
  const client = await agent.connect("s1");
  const [page] = await client.pages();
  for (const [width, height] of [
    [800, 600],
    [1200, 900],
  ] as const) {
    expect(await changeBrowser(agent, 1, { viewport: { width, height, refresh_rate: 60 } })).toMatchObject({
      status: 200,
    });
    await showsSizes(page as Page, { inner: [width, height - 1], screen: [width, height] });
  }
});

/**
 * How often a page may draw, in Hz: of the times between its frames within a second a short one, since a busy machine
 * leaves frames out, and then the time is a multiple.
 */
const measureRate = async (page: Page): Promise<number> =>
  (await page.evaluate(`new Promise((resolve) => {
    const times = [];
    const draw = (time) => {
      times.push(time);
      if (time - times[0] < 1000) return requestAnimationFrame(draw);
      const gaps = times.slice(1).map((each, index) => each - times[index]).sort((a, b) => a - b);
      resolve(1000 / gaps[gaps.length >> 3]);
    };
    requestAnimationFrame(draw);
  })`)) as number;

// BROWSER-24
test("of a headful browser changes its refresh rate, too", async () => {
  const viewport = { width: 1200, height: 900 };
  const agent = await agents.start({ headless: false, viewport: { ...viewport, refresh_rate: 25 } });
  await agent.bind("s1", 1);
  const client = await agent.connect("s1");
  const [page] = await client.pages();
  for (const refresh_rate of [60, 10, 25]) {
    const changed = await changeBrowser(agent, 1, { viewport: { ...viewport, refresh_rate } });
    expect(changed).toMatchObject({ status: 200 });
    await expect.poll(async () => (await measureRate(page as Page)) / refresh_rate).toBeCloseTo(1, 1);
  }
});

// BROWSER-25
test("of a headful browser can't become larger than its screen at the start, and then nothing changes", async () => {
  const agent = await agents.start({ headless: false, viewport: { width: 800, height: 600, refresh_rate: 60 } });
  await agent.bind("s1", 1);
  const client = await agent.connect("s1");
  for (const size of [
    { width: 801, height: 600 },
    { width: 800, height: 601 },
    { width: 70_000, height: 600 },
  ])
    expect(await changeBrowser(agent, 1, { viewport: { ...size, refresh_rate: 60 } })).toMatchObject({
      status: 409,
      body: { code: "screen_too_small" },
    });
  const [page] = await client.pages();
  await showsSizes(page as Page, { outer: [800, 599], screen: [800, 600] });
});
