import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { ArchiveRefused, type ArchiveRule } from "./archive-refused.ts";
import { isDeflated } from "./entry-headers.ts";
import { unpackedBudget } from "./limits.ts";
import { type ExtensionManifest, manifestEntry, readManifest } from "./manifest.ts";
import { type Archive, type CheckedEntry, type OpenOptions, openArchive } from "./open-archive.ts";

/** Counts what comes out of one archive, all its entries together. */
type Meter = { count(bytes: number, entry: string): void; total(): number };

/** Throws `ArchiveRefused` from the first byte too many. */
const createMeter = (archiveBytes: number): Meter => {
  const most = unpackedBudget(archiveBytes);
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
async function* readEntry(
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

/** What the check of an archive found out about it. `files`: without folders. */
export type CheckedExtension = ExtensionManifest & { files: number; unpackedBytes: number };

/**
 * Gets every entry with its data, folders with none. It must take the chunks to the end: the last checks come after
 * them.
 */
export type EntrySink = (entry: CheckedEntry, chunks: AsyncIterable<Buffer>) => Promise<void>;

/** The manifest first: an archive that is no extension is refused before anything else is inflated. */
const readAll = async (archive: Archive, sink: EntrySink, signal: AbortSignal): Promise<CheckedExtension> => {
  const { entries } = archive;
  const manifest = await readManifest(readEntry(archive, manifestEntry(entries), createMeter(archive.bytes)), entries);
  const meter = createMeter(archive.bytes);
  for (const entry of entries) {
    signal.throwIfAborted();
    await sink(entry, readEntry(archive, entry, meter));
  }
  const files = entries.filter(({ isFolder }) => !isFolder).length;
  return { ...manifest, files, unpackedBytes: meter.total() };
};

/** Checks an archive and gives each entry to `sink`. Throws `ArchiveRefused` and the reason of the signal. */
export const readExtensionZip = async (
  file: FileHandle,
  sink: EntrySink,
  options: OpenOptions,
): Promise<CheckedExtension> => readAll(await openArchive(file, options), sink, options.signal);

const drain: EntrySink = async (_entry, chunks) => {
  for await (const _chunk of chunks);
};

/**
 * Checks an archive, a whole extension as a zip file, and writes nothing. Throws `ArchiveRefused` and the reason of
 * `signal`.
 */
export const checkExtensionZip = (file: FileHandle, { signal }: { signal: AbortSignal }): Promise<CheckedExtension> =>
  readExtensionZip(file, drain, { signal });
