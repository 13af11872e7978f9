import { setTimeout as sleep } from "node:timers/promises";
import { connectRawCdp, cookieOf, type RawCdp, setCookie } from "../../support/raw-cdp.ts";
import type { Session } from "./pools.ts";

/** Between two commands, ms. */
const commandEveryMs = 250;

/** Longest search for a replica that takes the socket again, ms: well beyond the restart of one. */
const reconnectLimitMs = 60_000;

type SocketHistory = {
  commands: number;
  /** How often the connection was cut and made again. */
  cuts: number;
  /** Longest time without a connection, ms. */
  longestGapMs: number;
};

/**
 * A holder that sends a command all the time, and connects to the same URL again when its socket is cut. `stop` rejects
 * when the browser was lost: when no connection could be made again, or when what the holder left in the browser is not
 * there any more.
 */
export const startSteadySocket = async (session: Session): Promise<{ stop(): Promise<SocketHistory> }> => {
  const history: SocketHistory = { commands: 0, cuts: 0, longestGapMs: 0 };
  const mark = session.session_id;
  let cdp = await connectRawCdp(session.cdp_ws_url);
  await setCookie(cdp, "holder", mark);
  let isStopped = false;

  const reconnect = async (): Promise<RawCdp> => {
    const cutMs = performance.now();
    history.cuts += 1;
    for (;;) {
      try {
        const again = await connectRawCdp(session.cdp_ws_url);
        history.longestGapMs = Math.max(history.longestGapMs, performance.now() - cutMs);
        return again;
      } catch (error) {
        if (performance.now() - cutMs > reconnectLimitMs) throw error;
        await sleep(100);
      }
    }
  };
  const work = async (): Promise<void> => {
    while (!isStopped) {
      const isAnswered = await cdp.send("Browser.getVersion").then(
        () => true,
        () => false,
      );
      if (isAnswered) history.commands += 1;
      else cdp = await reconnect();
      await sleep(commandEveryMs);
    }
    if ((await cookieOf(cdp, "holder")) !== mark) throw new Error(`session ${mark}: another browser than before`);
  };
  const working = work();
  working.catch(() => undefined); // told by `stop`
  return {
    async stop() {
      isStopped = true;
      await working.finally(() => cdp.close());
      return history;
    },
  };
};
