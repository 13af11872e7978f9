/** The client's side of a connection: a WebSocket with bounds. */
import type { WebSocket } from "ws";
import type { Message } from "./command.ts";

/** What may wait for a client that reads slowly, bytes. */
const maxUnreadBytes = 32 * 1024 * 1024;

/** Time for the client to take the last messages and to close, ms. */
const closeMs = 2000;

/** Codes of RFC 6455. */
const codes = { done: 1000, notText: 1003, tooSlow: 1008, failed: 1011 } as const;

type ClientSocket = {
  /** Sends, or closes the connection when the client reads too slowly. */
  send(message: Message): void;
  /** Closes after what was sent, and at the latest after 2 s. */
  close(code: keyof typeof codes, why: string): void;
};

/** `onText`: is called with each message of the client. */
export const createClientSocket = (socket: WebSocket, onText: (text: string) => void): ClientSocket => {
  const close: ClientSocket["close"] = (code, why) => {
    socket.close(codes[code], why);
    setTimeout(() => socket.terminate(), closeMs);
  };
  const isOpen = (): boolean => socket.readyState === socket.OPEN;
  // A frame that breaks the protocol, or one that is too long: `ws` closes with the reason.
  socket.on("error", () => undefined);
  socket.on("message", (data, isBinary) => {
    if (!isOpen()) return;
    if (isBinary) close("notText", "messages are text");
    else onText(String(data));
  });
  return {
    send(message) {
      if (!isOpen()) return;
      if (socket.bufferedAmount > maxUnreadBytes) close("tooSlow", "the client reads too slowly");
      else socket.send(JSON.stringify(message));
    },
    close,
  };
};
