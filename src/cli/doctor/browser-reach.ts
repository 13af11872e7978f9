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

/** Opens a URL in a tab of its own. Resolves with the error, empty when it was opened; undefined when nothing came in time. */
const openIn = async (
  browser: CdpConnection,
  url: string,
  { signal, withinMs = answerMs }: { signal: AbortSignal; withinMs?: number },
): Promise<string | undefined> => {
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  try {
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    const opened = browser.send("Page.navigate", { url }, { sessionId }).then(
      ({ errorText }) => errorText ?? "",
      // The tab is closed while it waits.
      () => undefined,
    );
    return await Promise.race([opened, sleep(withinMs, undefined, { signal, ref: false })]);
  } finally {
    await browser.send("Target.closeTarget", { targetId });
  }
};

const isReached = async (browser: CdpConnection, url: string, signal: AbortSignal): Promise<boolean> => {
  const error = await openIn(browser, url, { signal });
  return error !== undefined && !noAnswer.test(error);
};

/** A resolver that gets no answer gives up after two tries of 5 s. */
const lookUpMs = 20_000;

/**
 * Whether the browser at this CDP endpoint finds the address of a URL's host. Nothing needs to answer there: what has
 * not failed by then has an address.
 */
export const looksUp = async (cdpUrl: string, url: string, signal: AbortSignal): Promise<boolean> => {
  await using browser = await connectCdp({ url: cdpUrl, headers: {} }, signal);
  return !/ERR_NAME_/.test((await openIn(browser, url, { signal, withinMs: lookUpMs })) ?? "");
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
