/** Pages for what watches a session: one that draws all the time, and how a session is led to one. */
import { withCdp } from "../test/support/raw-cdp.ts";

/** Its text moves with each frame. */
export const movingPage = `data:text/html,<title>moving</title><body><h1 id=now></h1><script>
  const step = (at) => { now.textContent = at; now.style.marginLeft = at / 10 % 500 + "px"; requestAnimationFrame(step); };
  requestAnimationFrame(step);
</script>`;

/** Has the session's first tab load this URL. */
export const goTo = (cdp_ws_url: string, url: string): Promise<unknown> =>
  withCdp(cdp_ws_url, async (cdp) => {
    const { targetInfos } = await cdp.send<{ targetInfos: { targetId: string; type: string }[] }>("Target.getTargets");
    const targetId = targetInfos.find(({ type }) => type === "page")?.targetId;
    const { sessionId } = await cdp.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
    return cdp.send("Page.navigate", { url }, sessionId);
  });
