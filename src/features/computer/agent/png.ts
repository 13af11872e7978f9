import { promisify } from "node:util";
import { constants, crc32, deflate, inflate } from "node:zlib";

/** Pictures as PNG, and those that Chromium makes: eight bits a channel, not interlaced, with alpha or without. */

const compress = promisify(deflate);
const expand = promisify(inflate);

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Eight bits a channel, red, green and blue. */
const header = { depth: 8, colours: 2 } as const;

/** Filters of PNG: a row as it is, and as its difference from the row above. */
const filters = { up: 2 } as const;

const chunk = (type: string, data: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(type, 4, "latin1");
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(data, crc32(head.subarray(4))));
  return Buffer.concat([head, data, check]);
};

/** Each row as its difference from the one above, without alpha: most rows of a page are equal. */
const filtered = (rgba: Uint8Array, width: number, height: number): Buffer => {
  const rows = Buffer.alloc(height * (1 + width * 3));
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    rows[to] = filters.up;
    to += 1;
    for (let x = 0; x < width; x += 1) {
      const from = (y * width + x) * 4;
      const above = from - width * 4;
      for (let channel = 0; channel < 3; channel += 1) {
        rows[to] = ((rgba[from + channel] as number) - (y > 0 ? (rgba[above + channel] as number) : 0)) & 0xff;
        to += 1;
      }
    }
  }
  return rows;
};

/** A picture as PNG. `rgba`: four bytes a pixel, row by row; alpha is left out. */
export const encodePng = async (
  rgba: Uint8Array,
  { width, height }: { width: number; height: number },
): Promise<Buffer> => {
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width);
  size.writeUInt32BE(height, 4);
  size.writeUInt8(header.depth, 8);
  size.writeUInt8(header.colours, 9);
  const data = await compress(filtered(rgba, width, height), { level: constants.Z_BEST_SPEED });
  return Buffer.concat([signature, chunk("IHDR", size), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
};

/** `rgba`: four bytes a pixel, row by row. */
export type Picture = { rgba: Uint8Array; width: number; height: number };

type Png = { width: number; height: number; channels: number; data: Buffer };

/** The parts of a PNG, each behind its length and type, and before its check. */
const readChunks = (png: Buffer): Png => {
  const parts: Buffer[] = [];
  let found = { width: 0, height: 0, channels: 0 };
  for (let at = signature.length; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === "IDAT") parts.push(data);
    if (type === "IHDR") {
      const channels = { 2: 3, 6: 4 }[data.readUInt8(9)];
      if (data.readUInt8(8) !== header.depth || channels === undefined || data.readUInt8(12) !== 0)
        throw new Error("a picture of a kind that Chromium does not make");
      found = { width: data.readUInt32BE(0), height: data.readUInt32BE(4), channels };
    }
    at += 12 + length;
  }
  return { ...found, data: Buffer.concat(parts) };
};

/** Paeth's filter: of the left, upper and upper left byte the one that is nearest to where they lead. */
const paeth = (left: number, up: number, corner: number): number => {
  const [toLeft, toUp, toCorner] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
};

/** What a filter adds to a byte, by the filter's number. */
const predict: readonly ((left: number, up: number, corner: number) => number)[] = [
  () => 0,
  (left) => left,
  (_left, up) => up,
  (left, up) => (left + up) >> 1,
  paeth,
];

/** The picture in a PNG of Chromium's. */
export const decodePng = async (png: Buffer): Promise<Picture> => {
  const { width, height, channels, data } = readChunks(png);
  const rows = await expand(data, { maxOutputLength: height * (1 + width * channels) });
  const rgba = new Uint8Array(width * height * 4).fill(255);
  const rowLength = width * channels;
  for (let y = 0; y < height; y += 1) {
    const from = y * (1 + rowLength) + 1;
    const above = from - 1 - rowLength;
    const filter = predict[rows[from - 1] as number] ?? (() => 0);
    for (let index = 0; index < rowLength; index += 1) {
      const isFirst = index < channels;
      const left = isFirst ? 0 : (rows[from + index - channels] as number);
      const up = y === 0 ? 0 : (rows[above + index] as number);
      const corner = isFirst || y === 0 ? 0 : (rows[above + index - channels] as number);
      const value = ((rows[from + index] as number) + filter(left, up, corner)) & 0xff;
      rows[from + index] = value;
      rgba[(y * width + Math.floor(index / channels)) * 4 + (index % channels)] = value;
    }
  }
  return { rgba, width, height };
};
