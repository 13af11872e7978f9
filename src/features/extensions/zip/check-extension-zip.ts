import type { FileHandle } from "node:fs/promises";
import { type Archive, type CheckedEntry, type OpenOptions, openArchive } from "../../../platform/zip/open-archive.ts";
import { createMeter, readEntry } from "../../../platform/zip/read-entry.ts";
import { extensionLimits } from "./limits.ts";
import { type ExtensionManifest, manifestEntry, readManifest } from "./manifest.ts";

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
  const manifest = await readManifest(
    readEntry(archive, manifestEntry(entries), createMeter(archive.bytes, extensionLimits)),
    entries,
  );
  const meter = createMeter(archive.bytes, extensionLimits);
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
): Promise<CheckedExtension> => readAll(await openArchive(file, extensionLimits, options), sink, options.signal);

const drain: EntrySink = async (_entry, chunks) => {
  for await (const _chunk of chunks);
};

/**
 * Checks an archive, a whole extension as a zip file, and writes nothing. Throws `ArchiveRefused` and the reason of
 * `signal`.
 */
export const checkExtensionZip = (file: FileHandle, { signal }: { signal: AbortSignal }): Promise<CheckedExtension> =>
  readExtensionZip(file, drain, { signal });
