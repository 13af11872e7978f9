/** A session whose page does all it can to be seen: what a person sees of it stays usable, and small. */
import type { Page } from "puppeteer-core";
import puppeteer, { type Browser } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { filledPool, untilAvailable } from "../../support/filled-pool.ts";
import { heapOf } from "../../support/page-heap.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { press } from "./console-actions.ts";
import { openWindows, untilText } from "./console-page.ts";

let stack: LocalProject;
let viewers: ViewBrowser;
let holder: Browser;
const windows = openWindows();
beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
});
afterAll(async () => {
  await holder?.disconnect();
  await windows.close();
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

/** A thousand titles, console lines and failed requests a second, and windows that come and go. */
const noise = `let count = 0;
  setInterval(() => {
    for (let each = 0; each < 20; each += 1) {
      document.title = "title " + ++count;
      console.log("line " + count, "y".repeat(200));
      if (count % 20 === 0) fetch("http://127.0.0.1:3/" + count).catch(() => 0);
    }
  }, 20);
  setInterval(() => { const other = open("about:blank#" + count); setTimeout(() => other?.close(), 200); }, 500);`;

const shownOf = (page: Page) => page.evaluate("document.querySelectorAll('*').length") as Promise<number>;

/** The number of the last line that the story tells. */
const lastLine = (page: Page): Promise<number> =>
  page.evaluate(`Math.max(0, ...[...document.querySelectorAll(".story bdi")].slice(-50)
    .map(({ textContent }) => Number(/line (\\d+)/.exec(textContent)?.[1] ?? 0)))`) as Promise<number>;

const untilLine = (page: Page, least: number): Promise<true> =>
  eventually(`line ${least} is told`, async () => (await lastLine(page)) >= least, 60_000);

test("a page that shouts fills no window, and keeps nobody from a browser", async () => {
  const pool = await filledPool(stack.kernel, { size: 2 });
  const categories = ["console", "network", "page", "connection"].map((category) => [category, { enabled: true }]);
  const telemetry = { browser: Object.fromEntries(categories) };
  const session = await stack.kernel.browserPools.acquire(pool.id, { name: "loud", telemetry } as object);
  holder = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url ?? "", defaultViewport: null });
  const [tab] = await holder.pages();
  await tab?.goto(`data:text/html,<script>${encodeURIComponent(noise)}</script>`);

  const of = { url: stack.url, key: stack.api_key };
  const story = await windows.open(viewers, { ...of, path: `/sessions/${session.session_id}` });
  await untilLine(story, 6000);
  const [nodes, heap, seen] = [await shownOf(story), await heapOf(story), await lastLine(story)];
  await untilLine(story, seen + 6000);
  expect(await story.$$eval(".story li", (rows) => rows.length)).toBeLessThanOrEqual(500);
  expect(await story.$$eval(".axis line", (ticks) => ticks.length)).toBeLessThanOrEqual(5100);
  expect(await shownOf(story)).toBeLessThan(nodes + 6000);
  expect(await heapOf(story)).toBeLessThan(heap + 24 * 2 ** 20);
  await press(story, "As code");
  await untilText(story, /browsers/, "dialog pre");
  await press(story, "Close");

  const list = await windows.open(viewers, { ...of, path: "/sessions" });
  await untilText(list, /loud\s+● Active/);
  await untilAvailable(stack.kernel, pool.id, 1);
  const other = await stack.kernel.browserPools.acquire(pool.id, { name: "quiet" } as object);
  await untilText(list, /quiet\s+● Active/);
  await stack.kernel.browserPools.release(pool.id, { session_id: other.session_id });
  await untilText(list, /1 active/);

  await press(story, "End");
  await press(story, "End the session");
  await untilText(story, /Ended ended by a caller/);
}, 180_000);
