import { once } from "node:events";
import type { Socket } from "node:net";
import { WebSocket } from "ws";
import { CdpBusy, CdpClosed } from "./cdp-errors.ts";
import { connectWithoutLong, type LongMessages } from "./skip-long-messages.ts";

/** Time for the browser's side to close, ms; a browser that hangs doesn't. */
const closeGraceMs = 250;

/**
 * Where a browser's DevTools are, and what its guard wants to see. `accepts`: whether whoever answers the upgrade is the one that is
 * meant; nothing is sent to anyone else. Left out, everyone is.
 */
export type CdpAddress = {
  url: string;
  headers: Record<string, string>;
  accepts?(answer: { status: number; headers: Record<string, string | string[] | undefined> }): boolean;
};

/**
 * `maxMessageBytes`: a longer message from the browser closes the connection, or is left out when there is an `onLong`, which is called with its
 * start. Left out, it is the default of `ws`.
 */
type CdpSocketOptions = { maxMessageBytes?: number; onLong?: LongMessages["onLong"] };

/** Throws `CdpBusy` when the guard takes no second connection of this purpose. */
const opened = async (socket: WebSocket, signal: AbortSignal): Promise<void> => {
  let status: number | undefined;
  socket.once("unexpected-response", (request, response) => {
    status = response.statusCode;
    request.destroy(new Error("refused"));
  });
  try {
    await once(socket, "open", { signal });
  } catch {
    socket.terminate();
    if (status === 409) throw new CdpBusy("another connection of this purpose is open");
    throw new CdpClosed("the browser did not accept a connection");
  }
};

/** An open WebSocket to a browser's DevTools. From the moment that `signal` is aborted it is cut. Its errors are followed by `close`. */
export const openCdpSocket = async (
  { url, headers, accepts = () => true }: CdpAddress,
  signal: AbortSignal,
  { maxMessageBytes, onLong }: CdpSocketOptions = {},
): Promise<WebSocket> => {
  const long = maxMessageBytes !== undefined && onLong && { maxBytes: maxMessageBytes, onLong };
  const socket = new WebSocket(url, {
    headers,
    perMessageDeflate: false,
    ...(maxMessageBytes !== undefined && { maxPayload: maxMessageBytes }),
    ...(long && { createConnection: (to: object) => connectWithoutLong(to, long) as Socket }),
  });
  socket.once("upgrade", (answer) => {
    if (!accepts({ status: answer.statusCode ?? 0, headers: answer.headers })) socket.terminate();
  });
  const cut = (): void => socket.terminate();
  signal.addEventListener("abort", cut);
  socket.on("error", () => undefined);
  socket.once("close", () => signal.removeEventListener("abort", cut));
  await opened(socket, signal);
  return socket;
};

/** Closes the socket. Resolves when it is closed, and never rejects. */
export const closeCdpSocket = async (socket: WebSocket): Promise<void> => {
  if (socket.readyState === WebSocket.CLOSED) return;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const timer = setTimeout(() => socket.terminate(), closeGraceMs);
  socket.close();
  await closed;
  clearTimeout(timer);
};
