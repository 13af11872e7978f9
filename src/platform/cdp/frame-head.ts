/** Longest head of a frame, bytes. */
export const maxFrameHead = 14;

/** `length`: of the head, bytes; `payload`: of what follows it; `mask`: zeros in a frame without one. */
type FrameHead = { length: number; payload: number; mask: Buffer };

/** The head of a WebSocket frame (RFC 6455); undefined until all of it is there. */
export const readFrameHead = (bytes: Buffer): FrameHead | undefined => {
  const second = bytes[1];
  if (second === undefined) return undefined;
  const short = second & 0x7f;
  const extended = { 126: 2, 127: 8 }[short] ?? 0;
  const isMasked = (second & 0x80) !== 0;
  const length = 2 + extended + (isMasked ? 4 : 0);
  if (bytes.length < length) return undefined;
  let payload = short;
  if (extended === 2) payload = bytes.readUInt16BE(2);
  if (extended === 8) payload = Number(bytes.readBigUInt64BE(2));
  return { length, payload, mask: isMasked ? Buffer.from(bytes.subarray(length - 4, length)) : Buffer.alloc(4) };
};
