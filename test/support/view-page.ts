/** The page of a live view in a real browser of its own, as a person has it open. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import { eventually } from "./eventually.ts";
import { launchChromium } from "./plain-chromium.ts";

export type ViewBrowser = { browser: Browser; [Symbol.asyncDispose](): Promise<void> };

/** A browser for pages of live views. */
export const startViewBrowser = async (): Promise<ViewBrowser> => {
  const profile = await mkdtemp(join(tmpdir(), "view-"));
  const browser = await launchChromium(profile);
  return {
    browser,
    async [Symbol.asyncDispose]() {
      await browser.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

/** What the page tells in its live region. */
export const statusOf = (view: Page): Promise<string> => view.$eval("#status", ({ textContent }) => textContent ?? "");

export const untilStatus = (view: Page, pattern: RegExp): Promise<string> =>
  eventually(`the view says ${pattern}`, async () => {
    const text = await statusOf(view);
    return pattern.test(text) && (text || "nothing");
  });

/** The colour of the middle of the picture, as `r,g,b`. */
const colourOf = (view: Page): Promise<string> =>
  view.evaluate(`(() => {
    const { width, height } = picture;
    return picture.getContext("2d").getImageData(width / 2, height / 2, 1, 1).data.slice(0, 3).join();
  })()`) as Promise<string>;

/**
 * Resolves when the middle of the picture has a colour whose strongest part is this one. JPEG changes colours a little.
 */
export const untilColour = (view: Page, strongest: "red" | "green" | "blue"): Promise<true> => {
  const at = ["red", "green", "blue"].indexOf(strongest);
  return eventually(`the picture is ${strongest}`, async () => {
    const parts = (await colourOf(view)).split(",").map(Number);
    return parts.every((part, index) => (index === at ? part > 120 : part < 90)) || undefined;
  });
};

/** Opens a live view, and resolves when it is connected. */
export const openView = async ({ browser }: ViewBrowser, url: string): Promise<Page> => {
  const clipboard = ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"] as const;
  await browser.defaultBrowserContext().overridePermissions(new URL(url).origin, [...clipboard]);
  const view = await browser.newPage();
  await view.setViewport({ width: 1000, height: 760 });
  await view.goto(url);
  await view.waitForSelector("#view[data-state=open]");
  return view;
};

/** The place in the view of a point of the page that is shown. */
export const placeOf = (view: Page, { x, y }: { x: number; y: number }): Promise<{ x: number; y: number }> =>
  view.evaluate(`(() => {
    const box = picture.getBoundingClientRect();
    const scale = Math.min(box.width / picture.width, box.height / picture.height);
    const left = box.left + (box.width - picture.width * scale) / 2;
    const top = box.top + (box.height - picture.height * scale) / 2;
    return { x: left + ${x} * scale, y: top + ${y} * scale };
  })()`) as Promise<{ x: number; y: number }>;
