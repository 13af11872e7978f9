/** Longest head of a frame, bytes. */
export const maxFrameHead = 14;

/** `length`: of the head, bytes; `payload`: of what follows it. Only a client's frames have a mask. */
type FrameHead = { length: number; payload: number; mask: Buffer | undefined };

/** The head of a WebSocket frame (RFC 6455) that begins at this place; undefined until all of it is there. */
export const readFrameHead = (bytes: Buffer, at = 0): FrameHead | undefined => {
  const second = bytes[at + 1];
  if (second === undefined) return undefined;
  const short = second & 0x7f;
  const extended = { 126: 2, 127: 8 }[short] ?? 0;
  const isMasked = (second & 0x80) !== 0;
  const length = 2 + extended + (isMasked ? 4 : 0);
  if (bytes.length < at + length) return undefined;
  let payload = short;
  if (extended === 2) payload = bytes.readUInt16BE(at + 2);
  if (extended === 8) payload = bytes.readUInt32BE(at + 2) * 2 ** 32 + bytes.readUInt32BE(at + 6);
  return { length, payload, mask: isMasked ? Buffer.from(bytes.subarray(at + length - 4, at + length)) : undefined };
};
