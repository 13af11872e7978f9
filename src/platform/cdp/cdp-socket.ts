import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { CdpBusy, CdpClosed } from "./cdp-errors.ts";
import { maxFrameHead, readFrameHead } from "./frame-head.ts";

// The bytes of a browser's WebSocket without the messages above a length: what follows them is read as ever, where `ws`
// would close the connection. The browser sends each message as one frame without a mask; what is anything else is
// passed on, and `ws` judges it.
//
//   answer to the upgrade ──► head of a frame ──► payload, passed on or left out ──► head of a frame …

/** What of a long message is kept: enough for what it answers, bytes. */
const maxStart = 256;

const answerEnd = "\r\n\r\n";

/** The first byte of a frame that is a whole message, of text or bytes. */
const wholeMessages: ReadonlySet<number> = new Set([0x81, 0x82]);

/** `maxBytes`: of a message. `onLong`: called with the start of each message that is left out. */
type LongMessages = { maxBytes: number; onLong(start: string): void };

/** Returns a function that takes the bytes as they come, and returns those that go on. */
export const createMessageFilter = ({ maxBytes, onLong }: LongMessages): ((chunk: Buffer) => Buffer[]) => {
  /** The end of what came of the answer to the upgrade; undefined after it. */
  let answer: string | undefined = "";
  let head: Buffer = Buffer.alloc(0);
  /** Of the payload that is being read, bytes. */
  let left = 0;
  /** Of the message that is left out. */
  let start: Buffer | undefined;

  /** Each reads from a place of the chunk, and returns how far it came. */
  const readAnswer = (chunk: Buffer, passed: Buffer[]): number => {
    const before = answer?.length ?? 0;
    const text = answer + chunk.toString("latin1");
    const end = text.indexOf(answerEnd);
    const length = end < 0 ? chunk.length : end + answerEnd.length - before;
    answer = end < 0 ? text.slice(1 - answerEnd.length) : undefined;
    passed.push(chunk.subarray(0, length));
    return length;
  };
  const readHead = (chunk: Buffer, from: number, passed: Buffer[]): number => {
    const before = head.length;
    const bytes = Buffer.concat([head, chunk.subarray(from, from + maxFrameHead - before)]);
    const frame = readFrameHead(bytes);
    head = bytes;
    if (!frame) return chunk.length;
    left = frame.payload;
    head = Buffer.alloc(0);
    const isLong = left > maxBytes && wholeMessages.has(bytes[0] ?? 0);
    if (isLong) start = Buffer.alloc(0);
    else passed.push(bytes.subarray(0, frame.length));
    return from + frame.length - before;
  };
  const readPayload = (chunk: Buffer, from: number, passed: Buffer[]): number => {
    const part = chunk.subarray(from, from + left);
    left -= part.length;
    if (!start) passed.push(part);
    else if (start.length < maxStart) start = Buffer.concat([start, part.subarray(0, maxStart - start.length)]);
    if (start && left === 0) {
      onLong(start.toString("latin1"));
      start = undefined;
    }
    return from + part.length;
  };

  return (chunk) => {
    const passed: Buffer[] = [];
    let at = answer === undefined ? 0 : readAnswer(chunk, passed);
    while (at < chunk.length) at = left > 0 ? readPayload(chunk, at, passed) : readHead(chunk, at, passed);
    return passed;
  };
};

/** A connection as `ws` makes it itself, but without the messages that are too long. */
const connectWithoutLong = (
  { host, port, socketPath }: { host?: string; port?: number; socketPath?: string },
  messages: LongMessages,
): Duplex => {
  const socket: Socket = socketPath === undefined ? connect(port ?? 0, host ?? "") : connect(socketPath);
  socket.setNoDelay(true);
  const filter = createMessageFilter(messages);
  const duplex = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk: Buffer) => {
    for (const part of filter(chunk)) if (!duplex.push(part)) socket.pause();
  });
  socket.once("end", () => duplex.push(null));
  socket.once("error", (error) => duplex.destroy(error));
  socket.once("close", () => duplex.destroy());
  return duplex;
};

/** Time for the browser's side to close, ms; a browser that hangs doesn't. */
const closeGraceMs = 250;

/**
 * Where a browser's DevTools are, and what its guard wants to see. `accepts`: whether whoever answers the upgrade is
 * the one that is meant; nothing is sent to anyone else. Left out, everyone is.
 */
export type CdpAddress = {
  url: string;
  headers: Record<string, string>;
  accepts?(answer: { status: number; headers: Record<string, string | string[] | undefined> }): boolean;
};

/**
 * `maxMessageBytes`: a longer message from the browser closes the connection, or is left out when there is an `onLong`,
 * which is called with its start. Left out, it is the default of `ws`.
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

/**
 * An open WebSocket to a browser's DevTools. From the moment that `signal` is aborted it is cut. Its errors are
 * followed by `close`.
 */
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
