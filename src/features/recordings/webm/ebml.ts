/** EBML, the form of WebM files (RFC 8794): elements of an id, a size and their bytes. */

/** The ids that this program reads or writes. */
export const ids = {
  ebml: 0x1a45dfa3,
  ebmlVersion: 0x4286,
  ebmlReadVersion: 0x42f7,
  ebmlMaxIdLength: 0x42f2,
  ebmlMaxSizeLength: 0x42f3,
  docType: 0x4282,
  docTypeVersion: 0x4287,
  docTypeReadVersion: 0x4285,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  muxingApp: 0x4d80,
  writingApp: 0x5741,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackUid: 0x73c5,
  flagLacing: 0x9c,
  codecId: 0x86,
  trackType: 0x83,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  cues: 0x1c53bb6b,
  cuePoint: 0xbb,
  cueTime: 0xb3,
  cueTrackPositions: 0xb7,
  cueTrack: 0xf7,
  cueClusterPosition: 0xf1,
  tags: 0x1254c367,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
} as const;

/** The head of an element. `size`: undefined when it is unknown. `start`: of its bytes, `offset` of the head itself. */
export type ElementHead = { id: number; size: number | undefined; offset: number; start: number };

/** How many bytes a number that begins with this byte has; undefined for none. */
const lengthOf = (first: number): number | undefined => (first === 0 ? undefined : Math.clz32(first) - 23);

const numberAt = (bytes: Buffer, offset: number, length: number): number => bytes.readUIntBE(offset, length);

/** Thrown for bytes that are no WebM of the kind that this program makes. */
export class NotWebm extends Error {
  override name = "NotWebm";
}

const readSize = (bytes: Buffer, offset: number, length: number): number | undefined => {
  const first = (bytes[offset] ?? 0) & (0xff >> length);
  let size = first;
  let isUnknown = first === 0xff >> length;
  for (let place = offset + 1; place < offset + length; place++) {
    const byte = bytes[place] ?? 0;
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return isUnknown ? undefined : size;
};

/** The head of the element at this place; undefined when the bytes end in it. Throws `NotWebm`. */
export const readHead = (bytes: Buffer, offset: number): ElementHead | undefined => {
  const firstOfId = bytes[offset];
  if (firstOfId === undefined) return undefined;
  const idLength = lengthOf(firstOfId);
  if (idLength === undefined || idLength > 4) throw new NotWebm("an id has more than 4 bytes");
  const sizeAt = offset + idLength;
  const firstOfSize = bytes[sizeAt];
  if (firstOfSize === undefined) return undefined;
  const sizeLength = lengthOf(firstOfSize);
  if (sizeLength === undefined) throw new NotWebm("a size has more than 8 bytes");
  const start = sizeAt + sizeLength;
  if (start > bytes.length) return undefined;
  return { id: numberAt(bytes, offset, idLength), size: readSize(bytes, sizeAt, sizeLength), offset, start };
};

const idBytes = (id: number): Buffer => {
  const length = Math.ceil((32 - Math.clz32(id)) / 8);
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(id, 0, length);
  return bytes;
};

/** A size in 8 bytes, so that no element's length depends on that of what is in it. */
const sizeBytes = (size: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(size) | (1n << 56n));
  return bytes;
};

/** The head of an element with so many bytes. */
export const headOf = (id: number, size: number): Buffer => Buffer.concat([idBytes(id), sizeBytes(size)]);

/** The head of an element whose size is not known yet: it goes on to the end. */
export const openElement = (id: number): Buffer => Buffer.concat([idBytes(id), Buffer.from("01ffffffffffffff", "hex")]);

/** An element of these bytes. */
export const element = (id: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([headOf(id, body.length), body]);
};

/** A whole number, always in 8 bytes. */
export const whole = (id: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return element(id, bytes);
};

/** A number. */
export const float = (id: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return element(id, bytes);
};

/** A text of ASCII. */
export const text = (id: number, value: string): Buffer => element(id, Buffer.from(value, "ascii"));
