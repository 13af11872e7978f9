/**
 * Hands of a browser without a screen: the page that was opened last stands for the screen, and takes mouse and keys by
 * DevTools.
 */
import type { PageOrder } from "../../../core/agent/page-order.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { createCdpKeyboard } from "./cdp-keyboard.ts";
import { createFrontPage } from "./front-page.ts";
import type { Button, Hands, Region } from "./hands.ts";
import { createHiddenClipboard } from "./hidden-clipboard.ts";
import { decodePng, type Picture } from "./png.ts";
import { arrowAt, drawPointer } from "./pointer.ts";

const timeoutMs = 5000;

/** A page takes input in its order. One that is busy, or shows a dialog, takes it later. */
const inputMs = 1000;

/** What a notch of the wheel scrolls, pixels of CSS: as Chromium takes one on a screen. */
const notchPx = 120;

/** Clicks within this time at one place count on, ms. */
const doubleClickMs = 500;

const names = { 1: "left", 2: "middle", 3: "right", 8: "back", 9: "forward" } as const satisfies Record<Button, string>;
const masks: Record<Button, number> = { 1: 1, 3: 2, 2: 4, 8: 8, 9: 16 };

type Point = { x: number; y: number };
type MouseEvent = {
  type: "mouseMoved" | "mousePressed" | "mouseReleased" | "mouseWheel";
  button?: (typeof names)[Button];
  clickCount?: number;
  deltaX?: number;
  deltaY?: number;
};

/** How many clicks a press makes with those just before it. */
const createClickCount = () => {
  let last: (Point & { button: Button; atMs: number; count: number }) | undefined;
  return (at: Point, button: Button, isDown: boolean): number => {
    if (!isDown) return last?.count ?? 1;
    const atMs = performance.now();
    const goesOn =
      last?.button === button && last.x === at.x && last.y === at.y && atMs - last.atMs < doubleClickMs
        ? last.count
        : 0;
    last = { ...at, button, atMs, count: goesOn + 1 };
    return last.count;
  };
};

/** What is outside of the picture stays black. */
const partOf = ({ rgba, width, height }: Picture, region: Region): Uint8Array => {
  const pixels = new Uint8Array(region.width * region.height * 4);
  const [columns, rows] = [Math.min(region.width, width - region.x), Math.min(region.height, height - region.y)];
  for (let row = 0; row < rows; row += 1) {
    const from = ((region.y + row) * width + region.x) * 4;
    pixels.set(rgba.subarray(from, from + columns * 4), row * region.width * 4);
  }
  return pixels;
};

/** `cdp`: is closed with the hands. */
export const createCdpHands = async (cdp: CdpConnection, order: () => PageOrder): Promise<Hands> => {
  const front = createFrontPage(cdp, order);
  const clickCount = createClickCount();
  const clipboard = createHiddenClipboard(cdp);
  const buttons = new Set<Button>();
  let { width, height, scale } = await front.look();
  // As a screen's mouse begins.
  let mouse: Point = { x: Math.floor(width / 2), y: Math.floor(height / 2) };

  /** Resolves when the page has taken it, or is too busy to. */
  const dispatch = async (answer: Promise<unknown>): Promise<void> => void (await answer.catch(() => undefined));
  const keyboard = createCdpKeyboard(async (event) => {
    const sessionId = await front.session();
    await dispatch(cdp.send("Input.dispatchKeyEvent", event, { sessionId, timeoutMs: inputMs }));
  });
  const mouseEvent = async (event: MouseEvent): Promise<void> => {
    const sessionId = await front.session();
    const mask = [...buttons].reduce((sum, one) => sum | masks[one], 0);
    const at = { x: mouse.x / scale, y: mouse.y / scale, buttons: mask, modifiers: keyboard.modifiers() };
    await dispatch(cdp.send("Input.dispatchMouseEvent", { ...event, ...at }, { sessionId, timeoutMs: inputMs }));
  };
  const button: Hands["button"] = (one, isDown) => {
    if (isDown) buttons.add(one);
    else buttons.delete(one);
    const type = isDown ? "mousePressed" : "mouseReleased";
    return mouseEvent({ type, button: names[one], clickCount: clickCount(mouse, one, isDown) });
  };
  return {
    isAlive: cdp.isOpen,
    clipboard,
    async size() {
      ({ width, height, scale } = await front.look());
      return { width, height };
    },
    position: async () => mouse,
    move(to) {
      mouse = to;
      return mouseEvent({ type: "mouseMoved" });
    },
    button,
    wheel: ({ x, y }) => mouseEvent({ type: "mouseWheel", deltaX: x * notchPx, deltaY: y * notchPx }),
    prepareKeys: async (keysyms) => keysyms.length,
    key: keyboard.key,
    // Each event has been waited for.
    settle: async () => undefined,
    async picture(region, { pointer }) {
      const sessionId = await front.session();
      const options = { format: "png" as const, optimizeForSpeed: true };
      const { data } = await cdp.send("Page.captureScreenshot", options, { sessionId, timeoutMs });
      const pixels = partOf(await decodePng(Buffer.from(data, "base64")), region);
      if (pointer) drawPointer(pixels, region, arrowAt(mouse));
      return pixels;
    },
    async [Symbol.asyncDispose]() {
      try {
        for (const one of buttons) await button(one, false);
        await clipboard.clear();
      } catch {
        // The browser has ended.
      } finally {
        await cdp[Symbol.asyncDispose]();
      }
    },
  };
};
