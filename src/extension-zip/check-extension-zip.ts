import { type ExtensionManifest, manifestEntry, readManifest } from "./manifest.ts";
import { type Archive, type CheckedEntry, type OpenOptions, openArchive } from "./open-archive.ts";
import { createMeter, readEntry } from "./read-entry.ts";

/** What the check of an archive found out about it. `files`: without folders. */
export type CheckedExtension = ExtensionManifest & { files: number; unpackedBytes: number };

/** Gets every entry with its data, folders with none. It must take the chunks to the end: the last checks come after them. */
export type EntrySink = (entry: CheckedEntry, chunks: AsyncIterable<Buffer>) => Promise<void>;

/** The manifest first: an archive that is no extension is refused before anything else is inflated. */
const readAll = async (archive: Archive, sink: EntrySink, signal: AbortSignal): Promise<CheckedExtension> => {
  const manifest = await readManifest(readEntry(archive, manifestEntry(archive.entries), createMeter(archive.bytes)));
  const meter = createMeter(archive.bytes);
  for (const entry of archive.entries) {
    signal.throwIfAborted();
    await sink(entry, readEntry(archive, entry, meter));
  }
  const files = archive.entries.filter(({ isFolder }) => !isFolder).length;
  return { ...manifest, files, unpackedBytes: meter.total() };
};

/** Checks an archive and gives each entry to `sink`. Throws `ArchiveRefused` and the reason of the signal. */
export const readExtensionZip = async (
  path: string,
  sink: EntrySink,
  options: OpenOptions,
): Promise<CheckedExtension> => {
  await using archive = await openArchive(path, options);
  // Awaited here: the archive is closed when this function returns.
  return await readAll(archive, sink, options.signal);
};

const drain: EntrySink = async (_entry, chunks) => {
  for await (const _chunk of chunks);
};

/** Checks the archive at `path`, a whole extension as a zip file, and writes nothing. Throws `ArchiveRefused` and the reason of `signal`. */
export const checkExtensionZip = (path: string, { signal }: { signal: AbortSignal }): Promise<CheckedExtension> =>
  readExtensionZip(path, drain, { signal });
