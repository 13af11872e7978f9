/**
 * `GET /view`: viewers of the browser of a lease. The agent is connected to the browser while there is a viewer; what
 * the connection has set in the browser ends with it.
 */
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { WebSocketServer } from "ws";
import { refusal, refusals } from "../../../core/agent/agent-reply.ts";
import { connectDevTools, type DevToolsPlace } from "../../../core/agent/connect-dev-tools.ts";
import type { PageOrder } from "../../../core/agent/page-order.ts";
import type { ShownPages } from "../../../core/agent/shown-pages.ts";
import type { ServeUpgrade } from "../../../core/agent/upgrades.ts";
import { readOnlyView, sessionHeader, viewHeader } from "../../../core/protocol/agent-api.ts";
import { proofHeader } from "../../../core/protocol/agent-proof.ts";
import { createUploads, type Uploads } from "./file-chooser.ts";
import { maxMessageBytes } from "./messages.ts";
import { openViewedBrowser, type ViewedBrowser } from "./viewed-browser.ts";
import { serveViewer } from "./viewer.ts";

/** Half of a lease's sockets: who has the URL of the view can't take the holder's. */
const maxViewers = 32;

/** Of RFC 6455: other keys are for clients that no live view has. */
const standardKey = /^[+/0-9A-Za-z]{22}==$/;

/** The browser of one lease as its viewers see it. Lives while one of them is there. */
type Watched = { session: string; viewers: number; opened: Promise<ViewedBrowser>; close(): void };

/** `mask`: as of `WatchedTabDeps`. */
type LiveViewDeps = {
  devTools(): DevToolsPlace;
  pageOrder(): PageOrder;
  /** The folder of the present Chromium, in which files of viewers are kept. */
  folder(): string;
  shownPages: ShownPages;
  mask(text: string, maxChars?: number): string;
};

const openWatched = (
  session: string,
  uploads: Uploads,
  { devTools, pageOrder, shownPages, mask }: LiveViewDeps,
): Watched => {
  const order = pageOrder();
  const connected = connectDevTools(devTools());
  const close = (): void =>
    void connected.then(
      (cdp) => cdp[Symbol.asyncDispose](),
      () => undefined,
    );
  const opened = connected.then((cdp) => openViewedBrowser(cdp, { order, shownPages, mask, uploads }));
  return { session, viewers: 0, opened, close };
};

/** Serves viewers. */
export const createLiveView = (deps: LiveViewDeps): ServeUpgrade => {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: maxMessageBytes });
  const proofs = new WeakMap<IncomingMessage, string>();
  server.on("headers", (headers, request) => {
    const proof = proofs.get(request);
    if (proof) headers.push(`${proofHeader}: ${proof}`);
  });
  let present: Watched | undefined;
  let kept: { folder: string; uploads: Uploads } | undefined;

  /** One for each Chromium, since what its viewers upload is bounded. */
  const uploadsNow = (): Uploads => {
    const folder = deps.folder();
    if (kept?.folder !== folder) kept = { folder, uploads: createUploads(join(folder, "uploads")) };
    return kept.uploads;
  };

  const enter = (session: string): { watched: Watched; leave: () => void } => {
    // The viewers of an earlier lease are cut; nothing of theirs is for this one.
    if (present?.session !== session) present = openWatched(session, uploadsNow(), deps);
    const watched = present;
    watched.viewers += 1;
    return {
      watched,
      leave() {
        watched.viewers -= 1;
        if (watched.viewers > 0) return;
        watched.close();
        if (present === watched) present = undefined;
      },
    };
  };

  return async ({ request, client, head, prove, refuse }) => {
    if (!standardKey.test(request.headers["sec-websocket-key"] ?? ""))
      return refuse(refusal("bad_request", "the Sec-WebSocket-Key is not of RFC 6455"));
    // Admitted: the header names the session that holds the browser.
    const session = String(request.headers[sessionHeader]);
    if (present?.session === session && present.viewers >= maxViewers) return refuse(refusals.too_many_requests);
    const { watched, leave } = enter(session);
    client.once("close", leave);
    const forget = (): void => {
      if (present === watched) present = undefined;
    };
    const viewed = await watched.opened.catch(() => undefined);
    if (client.destroyed) return;
    if (!viewed) {
      forget();
      return refuse(refusals.browser_unhealthy);
    }
    void viewed.closed.then(forget);
    const proof = prove(101);
    if (proof) proofs.set(request, proof);
    const readOnly = request.headers[viewHeader] === readOnlyView;
    server.handleUpgrade(request, client, head, (socket) => serveViewer(socket, { viewed, readOnly }));
  };
};
