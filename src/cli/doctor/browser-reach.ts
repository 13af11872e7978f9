/** What a browser reaches, seen from within it: each target is opened in a tab of its own. */
import { setTimeout as sleep } from "node:timers/promises";
import { type CdpConnection, connectCdp } from "../../platform/cdp/cdp-connection.ts";

/** Something that a browser may not reach. */
export type Target = { what: string; url: string };

/** A policy that drops connections lets a browser wait: what has not answered after this time is not reached, ms. */
const answerMs = 5_000;

/** Errors of a tab to which nothing has answered. Every other one comes after something has: a certificate, bytes. */
const noAnswer =
  /^net::ERR_(CONNECTION_(TIMED_OUT|REFUSED|FAILED)|ADDRESS_(UNREACHABLE|INVALID)|NAME_NOT_RESOLVED|NETWORK_ACCESS_DENIED|INTERNET_DISCONNECTED|TIMED_OUT|ACCESS_DENIED|BLOCKED_BY_\w+|TUNNEL_CONNECTION_FAILED|PROXY_CONNECTION_FAILED)$/;

const isReached = async (browser: CdpConnection, url: string, signal: AbortSignal): Promise<boolean> => {
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  try {
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    const opened = browser.send("Page.navigate", { url }, { sessionId }).then(
      ({ errorText }) => errorText === undefined || !noAnswer.test(errorText),
      // The tab is closed while it waits.
      () => false,
    );
    return await Promise.race([opened, sleep(answerMs, false, { signal, ref: false })]);
  } finally {
    await browser.send("Target.closeTarget", { targetId });
  }
};

/** The targets that the browser at this CDP endpoint reaches. */
export const reached = async <T extends Target>(
  cdpUrl: string,
  targets: readonly T[],
  signal: AbortSignal,
): Promise<T[]> => {
  await using browser = await connectCdp({ url: cdpUrl, headers: {} }, signal);
  const answers = await Promise.all(targets.map(({ url }) => isReached(browser, url, signal)));
  return targets.filter((_, i) => answers[i]);
};
