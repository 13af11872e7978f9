/** Pictures of the screen, but none that shows what a vault has filled (core/agent/shown-pages.ts). */
import type { Browser } from "../../../core/agent/browser.ts";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { connectDevTools } from "../../../core/agent/connect-dev-tools.ts";
import type { FillTimes } from "../../../core/agent/shown-pages.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { evaluateInPage } from "../../../platform/cdp/commands.ts";
import type { Hands, Region } from "./hands.ts";
import { encodePng } from "./png.ts";

const timeoutMs = 5000;

type PictureDeps = {
  hands: Hands;
  browser: Pick<Browser, "devTools" | "pageOrder" | "screen">;
  shownPages: Pick<FillTimes, "isFilling" | "hasFilled" | "onFill" | "mayShow">;
  pointer: { isShown: boolean };
};

const filled = (): CallRefused =>
  new CallRefused(
    "conflict",
    "a page in sight may show what a vault has filled; a screenshot can be taken once it has gone on to another page",
  );

/** Whether a page is in sight: a tab in the background of a window is not. */
const isInSight = async (cdp: CdpConnection, sessionId: string): Promise<boolean> =>
  (await evaluateInPage(cdp, "document.visibilityState", { sessionId, timeoutMs })) !== "hidden";

/** Whether all pages in sight may be shown. Of those that do not answer, nobody knows. */
const mayShowAll = async ({ browser, shownPages }: PictureDeps): Promise<boolean> => {
  if (shownPages.isFilling()) return false;
  if (!shownPages.hasFilled()) return true;
  await using cdp = await connectDevTools(browser.devTools());
  const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] }, { timeoutMs });
  const pages = browser.screen() ? targetInfos : browser.pageOrder().sorted(targetInfos).slice(-1);
  const shown = pages.map(async ({ targetId }) => {
    const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true }, { timeoutMs });
    return !(await isInSight(cdp, sessionId)) || (await shownPages.mayShow(cdp, sessionId));
  });
  return (await Promise.all(shown)).every(Boolean);
};

/** The screen, or a part of it, as PNG. Throws a `CallRefused`. */
export const takePicture = async (asked: Region | undefined, deps: PictureDeps): Promise<Buffer> => {
  const { hands, shownPages, pointer } = deps;
  const size = await hands.size();
  const region = asked ?? { x: 0, y: 0, ...size };
  if (region.x + region.width > size.width || region.y + region.height > size.height)
    throw new CallRefused("bad_request", `region: leads out of the screen, which is ${size.width}x${size.height}`);
  let isFilled = false;
  const stopListening = shownPages.onFill(() => {
    isFilled = true;
  });
  try {
    if (!(await mayShowAll(deps))) throw filled();
    const rgba = await hands.picture(region, { pointer: pointer.isShown });
    // A fill that began meanwhile may be in it.
    if (isFilled) throw filled();
    return await encodePng(rgba, region);
  } finally {
    stopListening();
  }
};
