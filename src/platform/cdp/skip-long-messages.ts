/**
 * The bytes of a browser's WebSocket without the messages above a length: what follows them is read as ever, where `ws` would close the
 * connection. The browser sends each message as one frame without a mask; what is anything else is passed on, and `ws` judges it.
 *
 *   answer to the upgrade ──► head of a frame ──► payload, passed on or left out ──► head of a frame …
 */
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { maxFrameHead, readFrameHead } from "./frame-head.ts";

/** What of a long message is kept: enough for what it answers, bytes. */
const maxStart = 256;

const answerEnd = "\r\n\r\n";

/** The first byte of a frame that is a whole message, of text or bytes. */
const wholeMessages: ReadonlySet<number> = new Set([0x81, 0x82]);

/** `maxBytes`: of a message. `onLong`: called with the start of each message that is left out. */
export type LongMessages = { maxBytes: number; onLong(start: string): void };

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
export const connectWithoutLong = (
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
