/**
 * One viewer of the live view: a WebSocket that gets messages and pictures (messages.ts) and sends input (messages.ts).
 *
 * A picture is sent when everything before it has left this process and the viewer has acknowledged the last one; it is
 * the newest one then. So a slow viewer gets fewer pictures, and this process keeps one for it at most.
 */
import type { WebSocket } from "ws";
import { type Bucket, takeToken } from "../../../platform/rules/token-bucket.ts";
import {
  type ActingMessage,
  type AnswerMessage,
  isAnswer,
  isLooking,
  readViewerMessage,
  type ViewerMessage,
  type ViewMessage,
} from "./messages.ts";
import { createShownTab } from "./shown-tab.ts";
import { meanOf } from "./tab-cast.ts";
import type { ViewedBrowser } from "./viewed-browser.ts";
import type { TabMessage } from "./watched-tab.ts";

/**
 * What waits to be sent to one viewer: the newest message of each type, and nothing else. So a viewer that does not
 * read costs one message of each type, and gets the newest ones when it reads again.
 */
type Outbox = {
  /** Sends the message as soon as the socket has room, unless a newer one of its type comes before. */
  put(message: ViewMessage): void;
  /** Sends a picture now. Only when `isDrained`. */
  sendPicture(picture: Buffer): void;
  /** Whether all that was sent has left this process, and nothing waits. */
  isDrained(): boolean;
};

/** `onDrained`: called when the socket has room again. */
const createOutbox = (socket: WebSocket, onDrained: () => void): Outbox => {
  const waiting = new Map<ViewMessage["type"], ViewMessage>();
  let isSending = false;
  const send = (data: string | Buffer): void => {
    isSending = true;
    socket.send(data, (error) => {
      isSending = false;
      // The socket's end is told of by its own event.
      if (error) return;
      sendNext();
      if (!isSending) onDrained();
    });
  };
  const sendNext = (): void => {
    const [next] = waiting.values();
    if (isSending || !next) return;
    waiting.delete(next.type);
    send(JSON.stringify(next));
  };
  return {
    put(message) {
      // At its end, so that one type's flood keeps no other waiting.
      waiting.delete(message.type);
      waiting.set(message.type, message);
      sendNext();
    },
    sendPicture: send,
    isDrained: () => !isSending && waiting.size === 0,
  };
};

/** Messages of one viewer. A page that draws 144 times a second sends a move and an `ack` each time. */
const rate = { perSecond: 400, burst: 800 };

/** Why a viewer's socket is closed, as WebSocket close codes. */
const closeCodes = { wrongData: 1003, refused: 1008, browserGone: 1011 } as const;

type ViewerDeps = { viewed: ViewedBrowser; readOnly: boolean };

const isTabMessage = (message: Exclude<ActingMessage, AnswerMessage>): message is TabMessage =>
  ["navigate", "history", "reload", "dialog"].includes(message.type);

/** Calls `take` with each message of the socket, and closes it for what is no message or comes too fast. */
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
  /** The number of the picture that was sent last, of the shown tab's. */
  let picture = 0;
  let awaited: { number: number; sentMs: number } | undefined;
  let meanMs: number | undefined;
  let told = "";
  let isOver = false;

  const offer = (): void => {
    const tab = shown.tab();
    if (isOver || awaited || !tab || !outbox.isDrained()) return;
    const next = tab.cast.take(picture);
    if (!next) return;
    picture = next.number;
    awaited = { number: next.number, sentMs: performance.now() };
    outbox.sendPicture(next.bytes);
  };
  const outbox = createOutbox(socket, offer);

  const tellTab = (): void => {
    const [id, tab] = [shown.id(), shown.tab()];
    const state = tab?.cast.state() ?? (id === undefined ? "none" : "checking");
    const dialog = (!readOnly && tab?.dialog()) || null;
    const ask = (!readOnly && tab?.ask()) || null;
    const stands = tab?.stands() === true;
    const message = { type: "tab", shown: id ?? null, state, dialog, ask, stands } as const;
    const text = JSON.stringify(message);
    if (text === told) return;
    told = text;
    outbox.put(message);
  };
  const shown = createShownTab({
    viewed,
    mayAct: !readOnly,
    onShow() {
      picture = 0;
      tellTab();
    },
    onNews() {
      tellTab();
      offer();
    },
    onTabs: () => outbox.put({ type: "tabs", tabs: viewed.tabs() }),
  });

  const act = async (message: Exclude<ActingMessage, AnswerMessage>): Promise<void> => {
    if (message.type === "open_tab") {
      const opened = await viewed.openTab();
      if (opened !== undefined && !isOver) await shown.show(opened);
      return;
    }
    if (message.type === "close_tab") return viewed.closeTab(message.tab);
    const tab = shown.tab();
    if (!tab) return;
    if (message.type === "copy") return outbox.put({ type: "copied", text: await tab.copy(message.cut) });
    if (isTabMessage(message)) tab.act(message);
    else tab.input(message);
  };

  const onAck = (frame: number): void => {
    if (awaited?.number !== frame) return;
    meanMs = meanOf(meanMs, performance.now() - awaited.sentMs);
    awaited = undefined;
    shown.report(meanMs);
    offer();
  };

  socket.on("error", () => undefined);
  readMessages(socket, (message) => {
    if (isLooking(message)) return message.type === "ack" ? onAck(message.frame) : void shown.show(message.tab);
    if (readOnly) return socket.close(closeCodes.refused, "this view is read-only");
    if (isAnswer(message)) shown.tab()?.answer(message);
    else void act(message);
  });
  socket.once("close", () => {
    isOver = true;
    shown.close();
  });
  void viewed.closed.then(() => socket.close(closeCodes.browserGone, "the browser has closed the connection"));
  outbox.put({ type: "hello", read_only: readOnly });
  outbox.put({ type: "tabs", tabs: viewed.tabs() });
  void shown.show(viewed.tabs().at(-1)?.id);
};
