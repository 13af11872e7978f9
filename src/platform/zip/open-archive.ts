import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import {
  type Entry,
  fromRandomAccessReaderPromise,
  type LocalFileHeader,
  RandomAccessReader,
  type ZipFile,
} from "yauzl";
import { ArchiveRefused, shownName } from "./archive-refused.ts";
import { checkEntry, checkLocalHeader } from "./entry-headers.ts";
import { type EntryName, parseEntryName } from "./entry-name.ts";
import { checkPlaces, type Directory, type Placed, readEndRecord } from "./layout.ts";
import type { ZipLimits } from "./limits.ts";

/** Bytes that are read at once. */
const chunkBytes = 64 * 1024;

/** The bytes of a file from `start` up to `end`. */
async function* chunksOf(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer, void, undefined> {
  let position = start;
  while (position < end) {
    const length = Math.min(chunkBytes, end - position);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/**
 * Lets yauzl read a file that its caller keeps and closes. yauzl's own way closes the descriptor while a read of it may
 * still be under way.
 */
class FileReader extends RandomAccessReader {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    super();
    this.#file = file;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(chunksOf(this.#file, start, end), { objectMode: false });
  }

  /** Also answers how many bytes it read, which yauzl needs and its types leave out. */
  // biome-ignore lint/complexity/useMaxParams: yauzl calls it so
  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.#file.read(buffer, offset, length, position).then(
      ({ bytesRead }) => callback(null, bytesRead),
      (error: Error) => callback(error),
    );
  }
}

// The files and folders of an archive as a tree, in which no two nodes can be taken for each other on any file system.

type Node = {
  /** As the first entry spells it. */
  segment: string;
  isFolder: boolean;
  /** Whether an entry of its own names it; a folder may only be implied. */
  isNamed: boolean;
  children: Map<string, Node>;
};

/** Equal for names that some file system takes for one: in any case, composed or not, ß or ss, full or half width. */
const foldedName = (segment: string): string => segment.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKC");

type NameTree = {
  /**
   * Adds an entry and the folders that its name implies. Throws `ArchiveRefused` when the archive can't have it too.
   */
  add(name: EntryName): void;
};

/** Counts all nodes, so a few deep names can't imply more folders than an archive may have files. */
const createNameTree = (mostNodes: number): NameTree => {
  const root: Node = { segment: "", isFolder: true, isNamed: true, children: new Map() };
  let nodes = 0;

  const childOf = (parent: Node, segment: string, isFolder: boolean, entry: string): Node => {
    const key = foldedName(segment);
    const known = parent.children.get(key);
    if (known && known.segment !== segment)
      throw new ArchiveRefused("name_collision", `another name differs only in case or spelling: ${known.segment}`, {
        entry,
      });
    if (known && known.isFolder !== isFolder)
      throw new ArchiveRefused("folder_or_file", "the archive has it as a file and as a folder", { entry });
    if (known) return known;
    nodes += 1;
    if (nodes > mostNodes)
      throw new ArchiveRefused("too_many_files", `the archive has more than ${mostNodes} files and folders`, { entry });
    const node = { segment, isFolder, isNamed: false, children: new Map() };
    parent.children.set(key, node);
    return node;
  };

  return {
    add({ path, segments, isFolder }) {
      let node = root;
      for (const [index, segment] of segments.entries()) {
        const isLast = index === segments.length - 1;
        node = childOf(node, segment, isLast ? isFolder : true, path);
      }
      if (node.isNamed) throw new ArchiveRefused("name_collision", "the archive has this name twice", { entry: path });
      node.isNamed = true;
    },
  };
};

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

/**
 * The entries of the central directory, which must fill it. Checks them one by one, so that a refusal names the entry.
 */
const readDirectory = async (
  zip: ZipFile,
  { end, entryCount, mostNodes }: Directory & { mostNodes: number },
  signal: AbortSignal,
): Promise<CheckedEntry[]> => {
  const tree = createNameTree(mostNodes);
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

/**
 * Opens an archive and checks everything but the data of its entries. `file` stays the caller's. Throws
 * `ArchiveRefused`.
 */
export const openArchive = async (
  file: FileHandle,
  limits: ZipLimits,
  { signal, sha256 }: OpenOptions,
): Promise<Archive> => {
  const { size: bytes } = await file.stat();
  if (bytes > limits.archiveBytes)
    throw new ArchiveRefused("archive_too_large", `the archive is larger than ${limits.archiveBytes} bytes`);
  if (sha256 !== undefined) await checkDigest(file, bytes, sha256);
  const directory = await readEndRecord(file, bytes, limits);
  const zip = await openZip(file, bytes);
  const entries = await readDirectory(zip, { ...directory, mostNodes: limits.nodes }, signal);
  const places: Placed[] = [];
  for (const entry of entries) {
    places.push(await placeOf(zip, entry));
    signal.throwIfAborted();
  }
  await checkPlaces(file, places, directory);
  return { zip, bytes, entries };
};
