/**
 * Keeps a site from doing what a visit does not want: windows, dialogs, downloads, more bytes than its limit, and very
 * many frames.
 */

import type { CdpSession } from "../../../platform/cdp/cdp-sessions.ts";
import { tell } from "../../../platform/cdp/commands.ts";
import type { BrowserPage } from "./connect-browser.ts";
import { maxChildren, maxSeenText, maxWindows, type Visit, type VisitError } from "./visit.ts";
import { noteFrame, type PageWatch } from "./watch-page.ts";

/**
 * What a document needs to lead on without a click: a script, also one in an attribute or of a style sheet of XML, a
 * `meta` that refreshes, or a frame, which may navigate the window around it. Plain text: what is found too much costs
 * a few seconds only.
 */
const means = /script|http-equiv|frame|<object|<embed|xml-stylesheet|\bon[a-z]{3,30}\s{0,9}=/i;

/**
 * Whether a document may lead on by itself. `source`: as the site sent it, since a script can take itself out of the
 * page.
 */
export const canNavigateItself = (source: string): boolean => means.test(source);

/** An answer with less text than this, characters, may lead on by itself. */
const fewCharacters = 200;

/** Whether what was read may be a page on the way to another one. */
export const mayBeInterstitial = ({ text }: Pick<Visit, "text">, { status = 0 }: Pick<Visit, "status">): boolean =>
  status < 200 || status > 299 || text.length < fewCharacters;

/** So far: `bytes` that were received, `windows` and dialogs that were opened. */
export type Guard = { bytes: number; windows: number };

/**
 * What the browser keeps of bodies for DevTools, bytes: of one enough for a page that refuses, of all a few such.
 * Frames and workers keep none.
 */
const buffers = {
  page: { maxTotalBufferSize: 4 * maxSeenText, maxResourceBufferSize: maxSeenText, maxPostDataSize: 0 },
  child: { maxTotalBufferSize: 0, maxResourceBufferSize: 0, maxPostDataSize: 0 },
};

/**
 * Guards this page. `end`: called with the reason when the visit has to end. Resolves when all of it stands; commands
 * that are sent to the page afterwards find it so.
 */
export const restrictPage = async (
  { browser, page, id }: BrowserPage,
  watch: PageWatch,
  maxBytes: number,
  end: (why: VisitError) => void,
): Promise<Guard> => {
  const guard: Guard = { bytes: 0, windows: 0 };
  let children = 0;

  const closeWindow = (close: () => Promise<unknown>): void => {
    guard.windows += 1;
    if (guard.windows > maxWindows) end("TOO_LARGE");
    else tell(close());
  };
  const count = (bytes: number): void => {
    guard.bytes += bytes;
    if (guard.bytes > maxBytes) end("TOO_LARGE");
  };
  const guardSession = (session: CdpSession, kept: keyof typeof buffers): Promise<unknown> => {
    // What comes from the browser itself: `data:` and `blob:` URLs, and its error page in a frame (260 kB).
    const local = new Set<string>();
    session.on("Network.requestWillBeSent", ({ requestId, request }) => {
      if (!/^https?:/i.test(request.url)) local.add(requestId);
    });
    for (const event of ["Network.loadingFinished", "Network.loadingFailed"] as const)
      session.on(event, ({ requestId }) => local.delete(requestId));
    // As unpacked: Chromium says the bytes on the wire only at the end.
    session.on("Network.dataReceived", ({ requestId, dataLength }) => {
      if (!local.has(requestId)) count(dataLength);
    });
    session.on("Network.webSocketFrameReceived", ({ response }) => count(response.payloadData.length));
    session.onAttached(guardChild);
    return Promise.all([
      session.send("Network.enable", buffers[kept]),
      session.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
    ]);
  };
  const guardChild = (session: CdpSession): void => {
    children += 1;
    if (children > maxChildren) {
      end("TOO_LARGE");
      return;
    }
    session.on("Network.requestWillBeSent", ({ type, request }) => {
      if (type === "Document") noteFrame(watch, request.url);
    });
    tell(guardSession(session, "child"));
    tell(session.send("Runtime.runIfWaitingForDebugger"));
  };

  browser.on("Target.targetCreated", ({ targetInfo }) => {
    const { type, targetId } = targetInfo;
    if (type === "page" && targetId !== id) closeWindow(() => browser.send("Target.closeTarget", { targetId }));
  });
  browser.on("Target.targetCrashed", ({ targetId }) => {
    if (targetId === id) end("CRASHED");
  });
  browser.on("Target.targetDestroyed", ({ targetId }) => {
    if (targetId === id) end("CRASHED");
  });
  page.on("Inspector.targetCrashed", () => end("CRASHED"));
  page.on("Page.javascriptDialogOpening", () =>
    closeWindow(() => page.send("Page.handleJavaScriptDialog", { accept: false })),
  );
  await Promise.all([
    browser.send("Browser.setDownloadBehavior", { behavior: "deny" }),
    page.send("Inspector.enable"),
    page.send("Page.enable"),
    guardSession(page, "page"),
  ]);
  return guard;
};
