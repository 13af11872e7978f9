import type { CDPSession } from "puppeteer-core";
import { z } from "zod";
import { hasOneColour } from "./one-colour.ts";

/** Width of a screenshot, pixels, and its greatest height by its width: a page can make its viewport no other, but a pool can. */
const screenshotWidth = 640;
const maxRatio = 4;

/** The most bytes that are kept of one. */
export const maxScreenshotBytes = 64 * 1024;

/** Tried in this order until the picture is small enough. */
const qualities = [50, 20, 5];

const Size = z.object({ clientWidth: z.number().positive(), clientHeight: z.number().positive() });

export type Screenshot = { webp: Uint8Array | undefined; isBlank: boolean };

/** Draws what the page shows in its viewport. Does not settle while the page's main thread is busy. */
export const takeScreenshot = async (page: CDPSession): Promise<Screenshot> => {
  const { cssLayoutViewport } = await page.send("Page.getLayoutMetrics");
  const { clientWidth: width, clientHeight: height } = Size.parse(cssLayoutViewport);
  const scale = screenshotWidth / width;
  const clip = { x: 0, y: 0, width, height: Math.min(height, width * maxRatio), scale };
  const draw = async (how: { format: "png" } | { format: "webp"; quality: number }): Promise<Buffer> => {
    const { data } = await page.send("Page.captureScreenshot", { ...how, clip, optimizeForSpeed: true });
    return Buffer.from(data, "base64");
  };
  const isBlank = hasOneColour(await draw({ format: "png" }));
  for (const quality of qualities) {
    const webp = await draw({ format: "webp", quality });
    if (webp.length <= maxScreenshotBytes) return { webp, isBlank };
  }
  return { webp: undefined, isBlank };
};
