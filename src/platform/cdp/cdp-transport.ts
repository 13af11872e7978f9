import { type CdpAddress, closeCdpSocket, openCdpSocket } from "./cdp-socket.ts";

/**
 * A connection to a browser as clients of CDP like Puppeteer take it: messages as text. The client sets `onmessage` and
 * `onclose`.
 */
type CdpTransport = {
  send(message: string): void;
  /** Closes the connection; `closed` says when that is done. */
  close(): void;
  onmessage?: (message: string) => unknown;
  onclose?: () => void;
  /**
   * Resolves when the connection is closed, by whichever side: with whether it was because more came than the bounds
   * allow.
   */
  closed: Promise<{ isOverBounds: boolean }>;
};

/**
 * `messageBytes`: of one message. `bytes`: of all of them. A page can have the browser send very many: what it loads
 * becomes events.
 */
type CdpTransportBounds = { messageBytes: number; bytes: number };

/**
 * Connects. The connection is cut when `signal` is aborted, and when the browser sends more than the bounds allow, or
 * no messages.
 */
export const openCdpTransport = async (
  address: CdpAddress,
  bounds: CdpTransportBounds,
  signal: AbortSignal,
): Promise<CdpTransport> => {
  const socket = await openCdpSocket(address, signal, { maxMessageBytes: bounds.messageBytes });
  const closed = Promise.withResolvers<{ isOverBounds: boolean }>();
  let received = 0;
  const transport: CdpTransport = {
    send: (message) => socket.send(message, () => undefined),
    close: () => void closeCdpSocket(socket),
    closed: closed.promise,
  };
  const deliver = async (message: string): Promise<void> => {
    try {
      await transport.onmessage?.(message);
    } catch {
      // No message, or one that the client does not expect: this must not end our process.
      socket.terminate();
    }
  };
  socket.on("message", (data) => {
    const message = String(data);
    received += message.length;
    if (received > bounds.bytes) socket.terminate();
    else void deliver(message);
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") received = Number.POSITIVE_INFINITY;
  });
  socket.once("close", () => {
    closed.resolve({ isOverBounds: received > bounds.bytes });
    transport.onclose?.();
  });
  return transport;
};
