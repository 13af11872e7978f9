/**
 * One viewer of the live view: a WebSocket that gets messages and pictures (view-message.ts) and sends input (viewer-message.ts).
 *
 * A picture is sent when everything before it has left this process and the viewer has acknowledged the last one; it is the newest one
 * then. So a slow viewer gets fewer pictures, and this process keeps one for it at most.
 */
import type { WebSocket } from "ws";
import { type Bucket, takeToken } from "../../domain/token-bucket.ts";
import { createOutbox } from "./outbox.ts";
import { meanOf } from "./quality.ts";
import type { ViewedBrowser, Watching } from "./viewed-browser.ts";
import { type ActingMessage, isLooking, readViewerMessage, type ViewerMessage } from "./viewer-message.ts";
import type { TabMessage } from "./watched-tab.ts";

/** Messages of one viewer. A page that draws 144 times a second sends a move and an `ack` each time. */
const rate = { perSecond: 400, burst: 800 };

/** Why a viewer's socket is closed, as WebSocket close codes. */
const closeCodes = { wrongData: 1003, refused: 1008, browserGone: 1011 } as const;

export type ViewerDeps = { viewed: ViewedBrowser; readOnly: boolean };

type Showing = {
  id: string | undefined;
  watching: Watching | undefined;
  /** The number of the picture that was sent last. */
  picture: number;
};

const isTabMessage = (message: ActingMessage): message is TabMessage =>
  ["navigate", "history", "reload", "dialog"].includes(message.type);

/** Calls `take` with each message of the socket, and closes it for what is none or comes too fast. */
const readMessages = (socket: WebSocket, take: (message: ViewerMessage) => void): void => {
  let bucket: Bucket | undefined;
  socket.on("message", (data, isBinary) => {
    if (socket.readyState !== socket.OPEN) return;
    const taken = takeToken(bucket, rate, performance.now());
    bucket = taken.bucket;
    if (taken.waitMs > 0) return socket.close(closeCodes.refused, "too many messages");
    const message = isBinary ? undefined : readViewerMessage(String(data));
    if (message) take(message);
    else socket.close(closeCodes.wrongData, "not a message of the live view");
  });
};

/** Serves the viewer until its socket is closed. */
export const serveViewer = (socket: WebSocket, { viewed, readOnly }: ViewerDeps): void => {
  let showing: Showing = { id: undefined, watching: undefined, picture: 0 };
  let awaited: { number: number; sentMs: number } | undefined;
  let meanMs: number | undefined;
  let told = "";
  let isOver = false;

  const offer = (): void => {
    const { watching, picture } = showing;
    if (isOver || awaited || !watching || !outbox.isDrained()) return;
    const next = watching.tab.cast.take(picture);
    if (!next) return;
    showing.picture = next.number;
    awaited = { number: next.number, sentMs: performance.now() };
    outbox.sendPicture(next.bytes);
  };
  const outbox = createOutbox(socket, offer);

  const tellTab = (): void => {
    const { id, watching } = showing;
    const state = watching?.tab.cast.state() ?? (id === undefined ? "none" : "checking");
    const dialog = (!readOnly && watching?.tab.dialog()) || null;
    const message = { type: "tab", shown: id ?? null, state, dialog } as const;
    const text = JSON.stringify(message);
    if (text === told) return;
    told = text;
    outbox.put(message);
  };

  const show = async (id: string | undefined): Promise<void> => {
    showing.watching?.leave();
    const mine: Showing = { id, watching: undefined, picture: 0 };
    showing = mine;
    tellTab();
    if (id === undefined) return;
    const onNews = (): void => {
      if (showing !== mine) return;
      tellTab();
      offer();
    };
    const watching = await viewed.watch(id, onNews);
    if (isOver || showing !== mine) return watching?.leave();
    mine.watching = watching;
    onNews();
  };

  const stopListening = viewed.listen({
    onTabs() {
      const tabs = viewed.tabs();
      outbox.put({ type: "tabs", tabs });
      if (!tabs.some(({ id }) => id === showing.id)) void show(tabs.at(-1)?.id);
    },
    onOpened(opener, tab) {
      if (opener === showing.id) void show(tab);
    },
  });

  const act = async (message: ActingMessage): Promise<void> => {
    if (message.type === "open_tab") {
      const opened = await viewed.openTab();
      if (opened !== undefined && !isOver) await show(opened);
      return;
    }
    if (message.type === "close_tab") return viewed.closeTab(message.tab);
    const tab = showing.watching?.tab;
    if (!tab) return;
    if (message.type === "copy") return outbox.put({ type: "copied", text: await tab.copy(message.cut) });
    if (isTabMessage(message)) tab.act(message);
    else tab.input(message);
  };

  const onAck = (frame: number): void => {
    if (awaited?.number !== frame) return;
    meanMs = meanOf(meanMs, performance.now() - awaited.sentMs);
    awaited = undefined;
    showing.watching?.report(meanMs);
    offer();
  };

  socket.on("error", () => undefined);
  readMessages(socket, (message) => {
    if (isLooking(message)) return message.type === "ack" ? onAck(message.frame) : void show(message.tab);
    if (readOnly) return socket.close(closeCodes.refused, "this view is read-only");
    void act(message);
  });
  socket.once("close", () => {
    isOver = true;
    stopListening();
    showing.watching?.leave();
  });
  void viewed.closed.then(() => socket.close(closeCodes.browserGone, "the browser has closed the connection"));
  outbox.put({ type: "hello", read_only: readOnly });
  outbox.put({ type: "tabs", tabs: viewed.tabs() });
  void show(viewed.tabs().at(-1)?.id);
};
