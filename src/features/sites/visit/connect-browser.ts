/**
 * Puppeteer's connection to a browser, without its pages: one session of one page, in which we enable what a visit
 * needs. Puppeteer's own pages enable the domain `Runtime`, which sites can measure, and put worlds into each document
 * (docs/adr/0037-visiting-pages.md).
 */
import type { CDPEvents, CDPSession, Connection, Protocol } from "puppeteer-core";
import type { CdpAddress } from "../../../platform/cdp/cdp-socket.ts";
import { openCdpTransport } from "../../../platform/cdp/cdp-transport.ts";

// What reading and watching need of a page's CDP session: a visit has Puppeteer's, an agent its own.

/** The events of a page. */
export type PageEvents = {
  on<Event extends keyof CDPEvents>(event: Event, listener: (params: CDPEvents[Event]) => void): unknown;
};

/** The commands that read a page. */
export type PageCommands = {
  send(
    method: "Page.createIsolatedWorld",
    params: Protocol.Page.CreateIsolatedWorldRequest,
  ): Promise<Protocol.Page.CreateIsolatedWorldResponse>;
  send(
    method: "Runtime.evaluate",
    params: Protocol.Runtime.EvaluateRequest,
  ): Promise<Protocol.Runtime.EvaluateResponse>;
};

/** The longest message, bytes: the longest is a screenshot without losses. */
const maxMessageBytes = 16 * 1024 * 1024;

/** Time for a page to close, ms; one that keeps its main thread busy takes longer. */
const closeMs = 1000;

export type BrowserPage = {
  /** Commands and events of the browser itself. */
  browser: Connection;
  /** Those of the page. */
  page: CDPSession;
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
const closePage = async (browser: Connection, targetId: string, closed: Promise<unknown>): Promise<void> => {
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
const choosePage = async (browser: Connection): Promise<string> => {
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
  const bounds = { messageBytes: maxMessageBytes, bytes: maxBytes };
  // Loaded by the first visit: it is a fifth of what an operator would load, and most operators make none.
  const { connect } = await import("puppeteer-core");
  const transport = await openCdpTransport(address, bounds, given.signal);
  parts.defer(async () => {
    transport.close();
    await transport.closed;
  });
  const puppeteer = await connect({
    transport,
    defaultViewport: null,
    // Puppeteer lets go of each target.
    targetFilter: () => false,
    networkEnabled: false,
    issuesEnabled: false,
    // The caller's signal is the limit.
    protocolTimeout: 0,
  });
  const browser = (await puppeteer.target().createCDPSession()).connection();
  if (!browser) throw new Error("the connection is closed");
  const id = await choosePage(browser);
  const page = await browser.createSession((await browser.send("Target.getTargetInfo", { targetId: id })).targetInfo);
  parts.defer(() => {
    // What the closing does to the page was not done by the site.
    page.removeAllListeners();
    return closePage(browser, id, transport.closed);
  });
  over.removeEventListener("abort", abort);
  const kept = parts.move();
  return { browser, page, id, closed: transport.closed, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
