/** What a browser shows of a URL. */
import { withCdp } from "./raw-cdp.ts";

/** `error`: why the page did not load. `text`, `title`: what it says, a moment after it has loaded. */
type Visit = { error?: string; text: string; title: string };

/** Time for what extensions do to a page that has loaded, ms. */
const settleMs = 300;

/** Opens a URL in a new tab of the session at this `cdp_ws_url`. */
export const visit = (cdpUrl: string, url: string): Promise<Visit> =>
  withCdp(cdpUrl, async (cdp) => {
    const { targetId } = await cdp.send<{ targetId: string }>("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await cdp.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
    await cdp.send("Page.enable", {}, sessionId);
    const { errorText } = await cdp.send<{ errorText?: string }>("Page.navigate", { url }, sessionId);
    const expression = `new Promise((resolve) => {
      const read = () => ({ text: document.body?.innerText.trim() ?? "", title: document.title });
      const done = () => setTimeout(() => resolve(read()), ${errorText ? 0 : settleMs});
      if (document.readyState === "complete") done(); else addEventListener("load", done);
    })`;
    const { result } = await cdp.send<{ result: { value: Pick<Visit, "text" | "title"> } }>(
      "Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true },
      sessionId,
    );
    await cdp.send("Target.closeTarget", { targetId });
    return { ...(errorText && { error: errorText }), ...result.value };
  });
