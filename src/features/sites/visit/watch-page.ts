/** What the events of a page tell: the answers to its main frame, the way there, its frames. */
import type { CdpSession } from "../../../platform/cdp/cdp-sessions.ts";
import type { Protocol } from "../../../platform/cdp/cdp-types.ts";
import { maxSeenItems, maxSeenLine } from "./visit.ts";

export type PageWatch = {
  status: number | undefined;
  headers: Record<string, string>;
  url: string;
  redirects: string[];
  frames: Set<string>;
  /** In Chromium's words, when the main frame's last navigation has failed. */
  error: `ERR_${string}` | undefined;
  /** How often the main frame has begun to navigate, and how often it has got a document, an error's included. */
  navigations: number;
  documents: number;
  /** Whether the last document is loaded. */
  isLoaded: boolean;
  /** Whether a navigation has begun that has no document yet. */
  isNavigating: boolean;
  /** The request of the last navigation. */
  request: string | undefined;
  /** Notes that the main frame's navigation has failed, in Chromium's words. */
  fail(errorText: string): void;
  /** Whether little is being loaded. */
  isCalm(): boolean;
  /** Calls `listener` after each event. */
  onChange(listener: () => void): void;
};

/**
 * A page that loads no more than this many things at once is calm: many sites keep one or two requests open for ever.
 */
const calmRequests = 2;

const line = (text: string): string => text.slice(0, maxSeenLine).toWellFormed();

const headersOf = (headers: Protocol.Network.Headers): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, maxSeenItems)
      .map(([name, value]) => [line(name).toLowerCase(), line(value)]),
  );

const errorOf = (text: string): `ERR_${string}` => `ERR_${line(text).replace(/^(net::)?(ERR_)?/, "")}`;

/** Follows the page of this session, whose main frame has this id, from now on. `url`: what will be visited. */
export const watchPage = (page: Pick<CdpSession, "on">, mainFrame: string, url: string): PageWatch => {
  let listener = (): void => undefined;
  const loading = new Set<string>();
  const watch: PageWatch = {
    status: undefined,
    headers: {},
    url: line(url),
    redirects: [],
    frames: new Set(),
    error: undefined,
    navigations: 0,
    documents: 0,
    isLoaded: false,
    isNavigating: false,
    request: undefined,
    fail(errorText) {
      const error = errorOf(errorText);
      // A navigation to a download, or to an answer without content, leaves the document where it is.
      if (error === "ERR_ABORTED" && shown) Object.assign(watch, { ...shown, isNavigating: false });
      else Object.assign(watch, { error, isNavigating: false });
      listener();
    },
    isCalm: () => loading.size <= calmRequests,
    onChange(next) {
      listener = next;
    },
  };
  const leave = (from: string): void => {
    if (watch.redirects.length < maxSeenItems) watch.redirects.push(line(from));
  };
  /** What is shown while the main frame navigates, and is again when that comes to nothing. */
  let shown: Pick<PageWatch, "url" | "status" | "headers" | "redirects" | "request"> | undefined;
  const begin = ({ requestId, request, redirectResponse }: Protocol.Network.RequestWillBeSentEvent): void => {
    if (redirectResponse) leave(redirectResponse.url);
    else {
      if (watch.documents > 0) {
        const { url, status, headers, redirects, request: before } = watch;
        shown = { url, status, headers, redirects: [...redirects], request: before };
        leave(watch.url);
      }
      watch.navigations += 1;
    }
    Object.assign(watch, { url: line(request.url), request: requestId, error: undefined, isNavigating: true });
  };
  const isMain = ({ type, frameId }: { type?: string; frameId?: string }): boolean =>
    type === "Document" && frameId === mainFrame;

  page.on("Network.requestWillBeSent", (event) => {
    loading.add(event.requestId);
    if (isMain(event)) begin(event);
    else if (event.type === "Document") noteFrame(watch, event.request.url);
    listener();
  });
  page.on("Network.responseReceived", (event) => {
    if (isMain(event))
      Object.assign(watch, { status: event.response.status, headers: headersOf(event.response.headers) });
    listener();
  });
  page.on("Network.loadingFinished", ({ requestId }) => {
    loading.delete(requestId);
    listener();
  });
  page.on("Network.loadingFailed", ({ requestId, errorText }) => {
    loading.delete(requestId);
    // A document that breaks off is one.
    if (requestId === watch.request && watch.isNavigating) watch.fail(errorText);
    else listener();
  });
  page.on("Page.frameNavigated", ({ frame }) => {
    // A page that was just made tells of its own empty document first.
    if (frame.id !== mainFrame || watch.navigations === 0) return;
    watch.documents += 1;
    shown = undefined;
    watch.frames.clear();
    Object.assign(watch, { isLoaded: false, isNavigating: false });
    if (frame.unreachableUrl === undefined) watch.url = line(frame.url + (frame.urlFragment ?? ""));
    listener();
  });
  page.on("Page.loadEventFired", () => {
    if (watch.documents > 0) watch.isLoaded = true;
    listener();
  });
  return watch;
};

/** Adds the URL of a frame inside. */
export const noteFrame = (watch: PageWatch, url: string): void => {
  if (watch.frames.size < maxSeenItems) watch.frames.add(line(url));
};
