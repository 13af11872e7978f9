import type { Readable } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { ArchiveRefused, type ArchiveRule } from "./archive-refused.ts";
import { isDeflated } from "./entry-headers.ts";
import type { ZipLimits } from "./limits.ts";
import type { Archive, CheckedEntry } from "./open-archive.ts";

/** Counts what comes out of one archive, all its entries together. */
type Meter = { count(bytes: number, entry: string): void; total(): number };

/** Throws `ArchiveRefused` from the first byte too many. */
export const createMeter = (archiveBytes: number, limits: ZipLimits): Meter => {
  const most = limits.unpackedBytes(archiveBytes);
  let total = 0;
  return {
    count(bytes, entry) {
      total += bytes;
      if (total > most)
        throw new ArchiveRefused(
          "unpacked_too_large",
          `the files up to it have more than ${most} bytes, the most for an archive of ${archiveBytes} bytes`,
          { entry },
        );
    },
    total: () => total,
  };
};

/** What a stream of compressed bytes becomes; `consumed` is how many of them were used. */
const inflated = (source: Readable): { output: Readable; consumed: () => number } => {
  const inflate = createInflateRaw();
  source.on("error", (error) => inflate.destroy(error));
  source.pipe(inflate);
  return { output: inflate, consumed: () => inflate.bytesWritten };
};

/**
 * The data of an entry, inflated and counted. Throws `ArchiveRefused` when they are not what the headers say: at the
 * latest after the last chunk, so nothing may be done with the data before the end.
 */
export async function* readEntry(
  { zip }: Archive,
  { entry, path }: CheckedEntry,
  meter: Meter,
): AsyncGenerator<Buffer, void, undefined> {
  const refuse = (rule: ArchiveRule, message: string, cause?: unknown): never => {
    throw new ArchiveRefused(rule, message, { entry: path, cause });
  };
  const { compressedSize, uncompressedSize } = entry;
  // Raw data, as yauzl does not tell how much of them the inflating took.
  const source = await zip.openReadStreamPromise(entry, { decodeFileData: false });
  const { output, consumed } = isDeflated(entry)
    ? inflated(source)
    : { output: source, consumed: () => compressedSize };
  let checksum = 0;
  let size = 0;
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > uncompressedSize) refuse("wrong_size", `it has more than the ${uncompressedSize} bytes that it names`);
      meter.count(chunk.length, path);
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code?.startsWith("Z_")) refuse("malformed", "its data can't be inflated", error);
    throw error;
  } finally {
    source.destroy();
    output.destroy();
  }
  if (size !== uncompressedSize) refuse("wrong_size", `it has ${size} bytes and names ${uncompressedSize}`);
  if (consumed() !== compressedSize) refuse("stray_data", "there is unused data behind its compressed data");
  if (checksum !== entry.crc32) refuse("wrong_checksum", "its checksum is wrong");
}
