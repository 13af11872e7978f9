/** The windows of a running Chromium, and the screen that they are on: their size can change without a new start. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";
import { unlessGone } from "../../platform/cdp/commands.ts";
import type { AgentViewport } from "../protocol/agent-api.ts";
import type { WindowSize } from "./chromium-flags.ts";
import type { VirtualScreen } from "./virtual-screen.ts";

const timeoutMs = 5000;

/** An X server changes a window's size a moment after it was asked to. */
const sizeTries = 20;
const sizePauseMs = 100;

/** `screen_too_small`, `viewport_refused`: everything is as before. */
export type ResizeOutcome = "resized" | "screen_too_small" | "viewport_refused";

export type Windows = {
  /**
   * Gives the viewport to all windows, and to those that are opened later without a size of their own. One call at a
   * time.
   */
  resize(viewport: AgentViewport, signal: AbortSignal): Promise<ResizeOutcome>;
};

type WindowsOptions = {
  cdp: CdpConnection;
  /** Of a headful browser. */
  screen: VirtualScreen | undefined;
  /** With which Chromium was started. */
  viewport: AgentViewport;
  sizeFor(viewport: AgentViewport): WindowSize;
};

const same = (a: Partial<WindowSize>, b: WindowSize): boolean => a.width === b.width && a.height === b.height;

/** The screen that a browser without one tells pages of. */
const resizeScreenless = async (cdp: CdpConnection, { width, height }: WindowSize): Promise<boolean> => {
  const { screenInfos } = await cdp.send("Emulation.getScreenInfos", undefined, { timeoutMs });
  const primary = screenInfos.find(({ isPrimary }) => isPrimary) ?? screenInfos[0];
  if (!primary) return false;
  const set = await unlessGone(
    cdp.send("Emulation.updateScreen", { screenId: primary.id, width, height }, { timeoutMs }),
  );
  return set !== undefined;
};

/** Gives a window this size, in the state that it is in. False when it does not take it. */
const resizeWindow = async (cdp: CdpConnection, windowId: number, size: WindowSize): Promise<boolean> => {
  const boundsNow = async () => (await cdp.send("Browser.getWindowBounds", { windowId }, { timeoutMs })).bounds;
  const set = (bounds: object): Promise<void> =>
    cdp.send("Browser.setWindowBounds", { windowId, bounds }, { timeoutMs });
  const { windowState = "normal" } = await boundsNow();
  if (windowState !== "normal") await set({ windowState: "normal" });
  await set({ left: 0, top: 0, ...size });
  if (windowState !== "normal") await set({ windowState });
  for (let tries = 0; tries < sizeTries; tries += 1) {
    const bounds = await boundsNow();
    if (bounds.windowState === "minimized" || same(bounds, size)) return true;
    await sleep(sizePauseMs);
  }
  return false;
};

/** The windows of a Chromium that has just started. Nothing is done to them before the first `resize`. */
export const createWindows = ({ cdp, screen, viewport: first, sizeFor }: WindowsOptions): Windows => {
  let present = first;
  let follows = false;

  const windowOf = async (targetId: string) =>
    unlessGone(cdp.send("Browser.getWindowForTarget", { targetId }, { timeoutMs }));

  /** A new window has the size of the flags, unless its opener or the windows before it say otherwise. */
  const place = async (targetId: string): Promise<void> => {
    const found = await windowOf(targetId);
    const wanted = sizeFor(present);
    if (found && same(found.bounds, sizeFor(first)) && !same(found.bounds, wanted))
      await unlessGone(resizeWindow(cdp, found.windowId, wanted));
  };

  const follow = async (): Promise<void> => {
    if (follows) return;
    cdp.onPage((targetId) => void place(targetId).catch(() => undefined));
    await cdp.send("Target.setDiscoverTargets", { discover: true }, { timeoutMs });
    follows = true;
  };

  const resizeScreen = async (viewport: AgentViewport, signal: AbortSignal): Promise<ResizeOutcome> => {
    if (screen) return (await screen.setMode(viewport, signal)) ? "resized" : "screen_too_small";
    return (await resizeScreenless(cdp, sizeFor(viewport))) ? "resized" : "viewport_refused";
  };

  const resizeWindows = async (size: WindowSize): Promise<boolean> => {
    const { targetInfos } = await cdp.send("Target.getTargets", {}, { timeoutMs });
    const pages = targetInfos.filter(({ type }) => type === "page");
    const windows = new Set<number>();
    for (const { targetId } of pages) {
      const found = await windowOf(targetId);
      if (found) windows.add(found.windowId);
    }
    for (const windowId of windows) {
      const isResized = await unlessGone(resizeWindow(cdp, windowId, size));
      const isThere = isResized ?? (await unlessGone(cdp.send("Browser.getWindowBounds", { windowId }, { timeoutMs })));
      if (!isResized && isThere !== undefined) return false;
    }
    return true;
  };

  return {
    async resize(viewport, signal) {
      await follow();
      const before = present;
      const outcome = await resizeScreen(viewport, signal);
      if (outcome !== "resized") return outcome;
      present = viewport;
      if (await resizeWindows(sizeFor(viewport))) return "resized";
      present = before;
      await resizeScreen(before, signal);
      await resizeWindows(sizeFor(before));
      return "viewport_refused";
    },
  };
};
