import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type Entry, fromRandomAccessReaderPromise, type LocalFileHeader, type ZipFile } from "yauzl";
import { ArchiveRefused, shownName } from "./archive-refused.ts";
import { checkEntry, checkLocalHeader } from "./entry-headers.ts";
import { type EntryName, parseEntryName } from "./entry-name.ts";
import { chunksOf, FileReader } from "./file-reader.ts";
import { checkPlaces, type Directory, type Placed, readEndRecord } from "./layout.ts";
import { maxArchiveBytes } from "./limits.ts";
import { createNameTree } from "./name-tree.ts";

/** An entry that passed all checks that need no look at its data. */
export type CheckedEntry = EntryName & { entry: Entry };

/** An archive whose entries can be read while its file is open. */
export type Archive = { zip: ZipFile; bytes: number; entries: CheckedEntry[] };

/** Runs a step of yauzl, which knows no rules of ours: whatever it refuses is a broken archive. */
const byYauzl = async <T>(where: string, step: () => Promise<T>): Promise<T> => {
  try {
    return await step();
  } catch (cause) {
    const { message, code } = cause as NodeJS.ErrnoException;
    // An error of the disk says nothing about the archive.
    if (code !== undefined) throw cause;
    throw new ArchiveRefused("malformed", `${where}: ${message}`, { cause });
  }
};

/** The entries of the central directory, which must fill it. Checks them one by one, so that a refusal names the entry. */
const readDirectory = async (
  zip: ZipFile,
  { end, entryCount }: Directory,
  signal: AbortSignal,
): Promise<CheckedEntry[]> => {
  const tree = createNameTree();
  const entries: CheckedEntry[] = [];
  const iterator = zip.eachEntry();
  for (;;) {
    const next = await byYauzl(`entry ${entries.length + 1} of ${entryCount}`, () => iterator.next());
    signal.throwIfAborted();
    if (next.done) break;
    const entry: Entry = next.value;
    const name = parseEntryName(entry.fileNameRaw);
    checkEntry(entry, name);
    tree.add(name);
    entries.push({ ...name, entry });
  }
  // yauzl's cursor; its types have it as a boolean.
  if (Number(zip.readEntryCursor) !== end)
    throw new ArchiveRefused("stray_data", "the central directory has more or less than its entries");
  return entries;
};

const placeOf = async (zip: ZipFile, { entry, path }: CheckedEntry): Promise<Placed> => {
  const local: LocalFileHeader = await byYauzl(shownName(path), () => zip.readLocalFileHeaderPromise(entry));
  checkLocalHeader(entry, local);
  return { entry, start: entry.relativeOffsetOfLocalHeader, dataEnd: local.fileDataStart + entry.compressedSize };
};

const openZip = async (file: FileHandle, bytes: number): Promise<ZipFile> => {
  // Raw names: yauzl would change backslashes, and refuse without saying which entry.
  const options = { autoClose: false, decodeStrings: false, validateEntrySizes: false };
  const reader = new FileReader(file);
  const zip = await byYauzl("this is no zip archive", () => fromRandomAccessReaderPromise(reader, bytes, options));
  // It tells of errors by events, also when nobody waits for an answer any more.
  zip.on("error", () => undefined);
  return zip;
};

const checkDigest = async (file: FileHandle, bytes: number, expected: string): Promise<void> => {
  const hash = createHash("sha256");
  for await (const chunk of chunksOf(file, 0, bytes)) hash.update(chunk);
  if (hash.digest("hex") !== expected)
    throw new ArchiveRefused("wrong_digest", `the archive has not the SHA-256 digest ${expected}`);
};

/** `sha256`: the digest of the archive, hex, if it is known. */
export type OpenOptions = { signal: AbortSignal; sha256?: string | undefined };

/** Opens an archive and checks everything but the data of its entries. `file` stays the caller's. Throws `ArchiveRefused`. */
export const openArchive = async (file: FileHandle, { signal, sha256 }: OpenOptions): Promise<Archive> => {
  const { size: bytes } = await file.stat();
  if (bytes > maxArchiveBytes)
    throw new ArchiveRefused("archive_too_large", `the archive is larger than ${maxArchiveBytes} bytes`);
  if (sha256 !== undefined) await checkDigest(file, bytes, sha256);
  const directory = await readEndRecord(file, bytes);
  const zip = await openZip(file, bytes);
  const entries = await readDirectory(zip, directory, signal);
  const places: Placed[] = [];
  for (const entry of entries) {
    places.push(await placeOf(zip, entry));
    signal.throwIfAborted();
  }
  await checkPlaces(file, places, directory);
  return { zip, bytes, entries };
};
