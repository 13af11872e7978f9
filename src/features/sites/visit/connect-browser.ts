/**
 * A visit's connection to a browser: one session of one page, in which we enable what a visit needs. Clients with pages
 * of their own enable the domain `Runtime`, which sites can measure, and put worlds into each document
 * (docs/adr/0037-visiting-pages.md).
 */
import { connectCdp } from "../../../platform/cdp/cdp-connection.ts";
import { type CdpSession, openSessions } from "../../../platform/cdp/cdp-sessions.ts";
import type { CdpAddress } from "../../../platform/cdp/cdp-socket.ts";
import { tell } from "../../../platform/cdp/commands.ts";

/** The longest message, bytes: the longest is a screenshot without losses. */
const maxMessageBytes = 16 * 1024 * 1024;

/** Time for a page to close, ms; a page that keeps its main thread busy takes longer. */
const closeMs = 1000;

export type BrowserPage = {
  /** Commands and events of the browser itself. */
  browser: CdpSession;
  /** Those of the page. */
  page: CdpSession;
  /** The id of the page's target, and of its main frame. */
  id: string;
  /**
   * Resolves when the connection is closed, by whichever side, with whether more came over it than a visit may cause.
   */
  closed: Promise<{ isOverBounds: boolean }>;
  /** Closes the page and the connection. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** Closes a page, and waits a moment until it is gone. */
const closePage = async (browser: CdpSession, targetId: string, closed: Promise<unknown>): Promise<void> => {
  const gone = Promise.withResolvers<void>();
  browser.on("Target.targetDestroyed", (event) => {
    if (event.targetId === targetId) gone.resolve();
  });
  const timer = setTimeout(gone.resolve, closeMs);
  // A page that is gone already can't be closed.
  browser.send("Target.closeTarget", { targetId }).catch(() => gone.resolve());
  await Promise.race([gone.promise, closed]);
  clearTimeout(timer);
};

/** The page that the browser has already, or a new one. */
const choosePage = async (browser: CdpSession): Promise<string> => {
  const { targetInfos } = await browser.send("Target.getTargets");
  const present = targetInfos.find(({ type }) => type === "page");
  return present?.targetId ?? (await browser.send("Target.createTarget", { url: "about:blank" })).targetId;
};

/**
 * Connects to a browser and to its page. `maxBytes`: of all messages. Rejects when that fails, and when `over` is
 * aborted before. From the moment that `cut` is aborted, also later, the connection is cut.
 */
export const connectBrowser = async (
  address: CdpAddress,
  maxBytes: number,
  over: AbortSignal,
  cut: AbortSignal,
): Promise<BrowserPage> => {
  await using parts = new AsyncDisposableStack();
  const given = new AbortController();
  const abort = (): void => given.abort();
  over.addEventListener("abort", abort);
  cut.addEventListener("abort", abort);
  parts.defer(() => cut.removeEventListener("abort", abort));
  const connection = await connectCdp(address, given.signal, { maxBytes, maxMessageBytes, isStrict: true });
  parts.use(connection);
  const { browser, attach } = openSessions(connection);
  await browser.send("Target.setDiscoverTargets", { discover: true });
  const id = await choosePage(browser);
  const page = await attach(id);
  parts.defer(() => {
    // What the closing does to the page was not done by the site.
    page.mute();
    // A page that leads on and on is hardly closed while its scripts run.
    tell(page.send("Emulation.setScriptExecutionDisabled", { value: true }));
    return closePage(browser, id, connection.closed);
  });
  over.removeEventListener("abort", abort);
  const kept = parts.move();
  return { browser, page, id, closed: connection.closed, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
