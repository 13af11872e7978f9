/** The requests that a holder sends by its browser. */
import type { Browser } from "../../../core/agent/browser.ts";
import { type CallHandler, CallRefused, callHandler } from "../../../core/agent/call-routes.ts";
import { connectDevTools } from "../../../core/agent/connect-dev-tools.ts";
import { curl } from "../calls.ts";
import { sendRequest } from "./send-request.ts";

const usualMs = 30_000;

/** Each has a tab. */
const mostAtOnce = 8;

/** None is under way. */
export const createCurl = ({
  browser,
}: {
  browser: Pick<Browser, "devTools" | "screen">;
}): { handlers: readonly CallHandler[] } => {
  let underWay = 0;
  const handlers = [
    callHandler(curl, async ({ body, signal }) => {
      if (underWay >= mostAtOnce)
        throw new CallRefused("too_many_requests", `${mostAtOnce} requests of this session are under way already`);
      underWay += 1;
      const { timeout_ms: timeoutMs = usualMs } = body;
      const late = AbortSignal.timeout(timeoutMs);
      try {
        await using cdp = await connectDevTools(browser.devTools());
        const place = { hidden: browser.screen() === undefined, signal: AbortSignal.any([signal, late]) };
        return { value: await sendRequest(cdp, body, place) };
      } catch (error) {
        if (error instanceof CallRefused || signal.aborted) throw error;
        if (late.aborted) throw new CallRefused("conflict", `no answer within ${timeoutMs} ms`, { cause: error });
        throw new CallRefused("browser_unhealthy", "the browser did not send it", { cause: error });
      } finally {
        underWay -= 1;
      }
    }),
  ];
  return { handlers };
};
