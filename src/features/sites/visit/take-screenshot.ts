import { inflateSync } from "node:zlib";
import { z } from "zod";
import type { CdpSession } from "../../../platform/cdp/cdp-sessions.ts";

/** The most that a screenshot unpacks to, bytes. */
const maxUnpacked = 16 * 1024 * 1024;

/** Bytes before the first chunk. */
const signatureBytes = 8;

/** Length and type before a chunk's data, and the sum after it. */
const chunkHead = 8;
const chunkEnd = 4;

/** Bytes of a pixel by the colour types of a PNG that Chromium writes: RGB, RGBA. */
const pixelBytes: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

type Chunk = { type: string; data: Buffer };

const chunksOf = (png: Buffer): Chunk[] => {
  const chunks: Chunk[] = [];
  for (let at = signatureBytes; at + chunkHead <= png.length; ) {
    const start = at + chunkHead;
    const end = start + png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, start), data: png.subarray(start, end) });
    at = end + chunkEnd;
  }
  return chunks;
};

const paeth = (left: number, above: number, corner: number): number => {
  const guess = left + above - corner;
  const [toLeft, toAbove, toCorner] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
};

/** What a row's filter has taken away from a byte, by the bytes left of it, above it, and above that. */
const filters: readonly ((left: number, above: number, corner: number) => number)[] = [
  () => 0,
  (left) => left,
  (_, above) => above,
  (left, above) => (left + above) >> 1,
  paeth,
];

type Rows = { bytes: Buffer; rowBytes: number; size: number };

/** Unpacks the rows of a picture, each its filter and then its pixels of `size` bytes. */
const rowsOf = (png: Buffer): Rows => {
  const chunks = chunksOf(png);
  const header = chunks.find(({ type }) => type === "IHDR")?.data;
  if (!header || header.length < 13) throw new Error("the picture is no PNG");
  const size = pixelBytes[header[9] ?? -1];
  if (!size || header[8] !== 8 || header[12] !== 0) throw new Error("the picture is a PNG of another kind");
  const data = chunks.filter(({ type }) => type === "IDAT").map((chunk) => chunk.data);
  const bytes = inflateSync(Buffer.concat(data), { maxOutputLength: maxUnpacked });
  return { bytes, rowBytes: 1 + header.readUInt32BE(0) * size, size };
};

/** Whether the row at this place has only this pixel, when all rows above it do. */
const isRowOf = (pixel: Buffer, { bytes, rowBytes, size }: Rows, start: number): boolean => {
  const filter = filters[bytes[start] ?? 0];
  if (!filter) throw new Error("the picture is broken");
  for (let column = 0; column < rowBytes - 1; column += 1) {
    const same = pixel[column % size] ?? 0;
    const left = column < size ? 0 : same;
    const above = start === 0 ? 0 : same;
    const corner = start === 0 || column < size ? 0 : same;
    if ((((bytes[start + 1 + column] ?? 0) + filter(left, above, corner)) & 255) !== same) return false;
  }
  return true;
};

/** Whether all pixels of this PNG, with 8 bits a channel and not interlaced as Chromium writes them, are the same. */
const hasOneColour = (png: Buffer): boolean => {
  const rows = rowsOf(png);
  // Nothing is left of it or above it, so no filter changes the first pixel.
  const pixel = rows.bytes.subarray(1, 1 + rows.size);
  for (let start = 0; start < rows.bytes.length; start += rows.rowBytes) if (!isRowOf(pixel, rows, start)) return false;
  return true;
};

/**
 * Width of a screenshot, pixels, and its greatest height by its width: a page can make its viewport no other, but a
 * pool can.
 */
const screenshotWidth = 640;
const maxRatio = 4;

/** The most bytes that are kept of one. */
export const maxScreenshotBytes = 64 * 1024;

/** Tried in this order until the picture is small enough. */
const qualities = [50, 20, 5];

const Size = z.object({ clientWidth: z.number().positive(), clientHeight: z.number().positive() });

export type Screenshot = { webp: Uint8Array | undefined; isBlank: boolean };

/** Draws what the page shows in its viewport. Does not settle while the page's main thread is busy. */
export const takeScreenshot = async (page: CdpSession): Promise<Screenshot> => {
  const { cssLayoutViewport } = await page.send("Page.getLayoutMetrics");
  const { clientWidth: width, clientHeight: height } = Size.parse(cssLayoutViewport);
  const scale = screenshotWidth / width;
  const clip = { x: 0, y: 0, width, height: Math.min(height, width * maxRatio), scale };
  const draw = async (how: { format: "png" } | { format: "webp"; quality: number }): Promise<Buffer> => {
    const { data } = await page.send("Page.captureScreenshot", { ...how, clip, optimizeForSpeed: true });
    return Buffer.from(data, "base64");
  };
  const isBlank = hasOneColour(await draw({ format: "png" }));
  for (const quality of qualities) {
    const webp = await draw({ format: "webp", quality });
    if (webp.length <= maxScreenshotBytes) return { webp, isBlank };
  }
  return { webp: undefined, isBlank };
};
