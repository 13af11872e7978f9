import { maxFrameHead, readFrameHead } from "./frame-head.ts";

/** Where one direction of a WebSocket stands. */
type FollowedFrames = {
  /** Takes the bytes as they come, from the first one after the head of the upgrade's answer. */
  take(chunk: Buffer): void;
  /** Whether another frame may come here: no frame is half sent, and none has closed the connection. */
  takesFrame(): boolean;
};

/** The opcode of a frame that closes the connection (RFC 6455, 5.5.1). */
const closing = 0x8;

const noBytes = Buffer.alloc(0);

/**
 * Follows the frames of one direction of a WebSocket by their heads. It reads no payload and keeps nothing but a head
 * that came in parts.
 */
export const followFrames = (): FollowedFrames => {
  let head: Buffer = noBytes;
  /** Of the payload that is being sent, bytes. */
  let left = 0;
  let isClosed = false;

  /** Returns where the frame's payload begins in the chunk. A head that came whole is not copied: a frame may have no payload. */
  const takeHead = (chunk: Buffer, from: number): number => {
    const before = head.length;
    const bytes = before === 0 ? chunk : Buffer.concat([head, chunk.subarray(0, maxFrameHead - before)]);
    const at = before === 0 ? from : 0;
    const frame = readFrameHead(bytes, at);
    head = frame ? noBytes : Buffer.from(bytes.subarray(at));
    if (!frame) return chunk.length;
    left = frame.payload;
    isClosed ||= ((bytes[at] ?? 0) & 0x0f) === closing;
    return from + frame.length - before;
  };

  return {
    take(chunk) {
      for (let at = 0; at < chunk.length; ) {
        if (left === 0) at = takeHead(chunk, at);
        const taken = Math.min(left, chunk.length - at);
        left -= taken;
        at += taken;
      }
    },
    takesFrame: () => left === 0 && head.length === 0 && !isClosed,
  };
};

/** A frame that closes a connection, as a server sends it. `reason`: 123 bytes at most. */
export const closingFrame = (code: number, reason: string): Buffer => {
  const text = Buffer.from(reason);
  const frame = Buffer.alloc(4 + text.length);
  frame.writeUInt8(0x80 | closing, 0);
  frame.writeUInt8(2 + text.length, 1);
  frame.writeUInt16BE(code, 2);
  text.copy(frame, 4);
  return frame;
};
