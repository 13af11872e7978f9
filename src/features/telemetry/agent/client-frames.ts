/**
 * Reads the methods of the CDP commands that a client sends, beside the bytes that are passed on: WebSocket frames of RFC 6455, masked as a
 * client's are. Of each message only the first bytes are unmasked, until the method is found; the rest is counted. What is no CDP has no
 * methods. It never holds bytes up and keeps none of them.
 */
import { maxFrameHead, readFrameHead } from "../../../platform/cdp/frame-head.ts";

/** How much of a message is searched, bytes. Clients write the method before the parameters, or after a short session. */
const maxSearched = 4096;

const textOpcode = 1;
const continuation = 0;

const token = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** The method at the top level of a message that may be cut off; undefined when it is not there. */
export const methodIn = (text: string): string | undefined => {
  let depth = 0;
  /** The last two tokens. */
  let [before, last] = ["", ""];
  for (const [found] of text.matchAll(token)) {
    if (depth === 1 && last === ":" && before === '"method"' && found.startsWith('"')) return found.slice(1, -1);
    if (found === "{" || found === "[") depth += 1;
    if (found === "}" || found === "]") depth -= 1;
    [before, last] = [last, found];
  }
  return undefined;
};

/** Returns a function that takes the bytes of one client as they come. `onMessage`: called once for each of its messages. */
export const readClientFrames = (onMessage: (method: string | undefined) => void): ((chunk: Buffer) => void) => {
  let head: Buffer = Buffer.alloc(0);
  /** Of the frame that is being read. */
  let left = 0;
  let offset = 0;
  let mask: Buffer = Buffer.alloc(4);
  let isLast = false;
  let isData = false;
  const searched = Buffer.alloc(maxSearched);
  let searchedLength = 0;

  const endFrame = (): void => {
    if (!isData || !isLast) return;
    onMessage(methodIn(searched.toString("utf8", 0, searchedLength)));
    searchedLength = 0;
  };

  /** Returns how many bytes of the chunk belonged to the head. */
  const readHead = (chunk: Buffer, from: number): number => {
    const before = head.length;
    head = Buffer.concat([head, chunk.subarray(from, from + maxFrameHead - before)]);
    const frame = readFrameHead(head);
    if (!frame) return chunk.length - from;
    const [first = 0] = head;
    const opcode = first & 0x0f;
    isLast = (first & 0x80) !== 0;
    isData = opcode === textOpcode || opcode === continuation;
    left = frame.payload;
    mask = frame.mask;
    offset = 0;
    head = Buffer.alloc(0);
    if (left === 0) endFrame();
    return frame.length - before;
  };

  const readPayload = (chunk: Buffer, from: number): number => {
    const length = Math.min(left, chunk.length - from);
    const wanted = isData ? Math.min(length, maxSearched - searchedLength) : 0;
    for (let index = 0; index < wanted; index += 1) {
      const byte = chunk[from + index] ?? 0;
      searched[searchedLength + index] = byte ^ (mask[(offset + index) & 3] ?? 0);
    }
    searchedLength += wanted;
    offset += length;
    left -= length;
    if (left === 0) endFrame();
    return length;
  };

  return (chunk) => {
    for (let at = 0; at < chunk.length; ) at += left > 0 ? readPayload(chunk, at) : readHead(chunk, at);
  };
};
