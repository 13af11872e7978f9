/**
 * Unpacks the archive of a profile. Its bytes are not trusted: who drove a browser may have written any file into its
 * profile, and who can write to the store any archive. So only plain files and folders come out, below the folder, and
 * no more than the limits say.
 */
import { constants, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { createZstdDecompress, constants as zlib } from "node:zlib";
import type { ReadEntry } from "tar";
import { isLeftOut } from "./left-out.ts";
import { type ArchiveLimits, archiveLimits, ProfileArchiveError } from "./limits.ts";
import { readEntries } from "./read-entries.ts";

/** Largest window of the compression, as a power of 2: memory, bytes. `packProfile` uses 2^21. */
const maxWindowLog = 23;

/** A tar has a header and padding for each entry: its own limit on top of that of the files. */
const tarBytes = ({ bytes, entries }: ArchiveLimits): number => bytes + entries * 2048;

const counted = async function* (
  bytes: AsyncIterable<Uint8Array>,
  { most, what }: { most: number; what: string },
): AsyncGenerator<Uint8Array> {
  let sum = 0;
  for await (const chunk of bytes) {
    sum += chunk.byteLength;
    if (sum > most) throw new ProfileArchiveError(`${what} of the profile has more than ${most} bytes`);
    yield chunk;
  }
};

const decompressed = async function* (packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(packed, { objectMode: false });
  const unpack = createZstdDecompress({ params: { [zlib.ZSTD_d_windowLogMax]: maxWindowLog } });
  let failed: { error: unknown } | undefined;
  source.on("error", (error) => {
    failed = { error };
    unpack.destroy(error);
  });
  try {
    yield* source.pipe(unpack) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw failed ? failed.error : new ProfileArchiveError("the archive of the profile is no zstd", { cause: error });
  } finally {
    source.destroy();
    unpack.destroy();
  }
};

const isFolder = ({ type }: ReadEntry): boolean => type === "Directory";

/**
 * The path of an entry below the folder, empty for the folder itself. Throws for an entry that is not plainly below it.
 */
const pathOf = (entry: ReadEntry, limits: ArchiveLimits): string => {
  const path = entry.path.replace(/^\.\//, "").replace(/\/$/, "");
  if (path === "" && isFolder(entry)) return path;
  const names = path.split("/");
  const isBad = (name: string): boolean =>
    name === "" || name === "." || name === ".." || name.includes("\0") || Buffer.byteLength(name) > limits.nameBytes;
  if (names.some(isBad) || names.length > limits.depth || Buffer.byteLength(path) > limits.pathBytes)
    throw new ProfileArchiveError(`the archive has a path that no profile has: ${JSON.stringify(path.slice(0, 100))}`);
  return path;
};

/** Codes of the file system for a path whose place another entry has taken. */
const taken = ["EEXIST", "ENOTDIR", "EISDIR"];

/** Does what makes a path, which only the entries before it can stand in the way of. */
const inFreePlace = async (path: string, make: () => Promise<unknown>): Promise<void> => {
  try {
    await make();
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    if (!taken.includes(code)) throw cause;
    const shown = JSON.stringify(path.slice(0, 100));
    throw new ProfileArchiveError(`the archive has a path where it has another one already (${code}): ${shown}`, {
      cause,
    });
  }
};

const exclusive = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

const writeEntry = async (entry: ReadEntry, target: string): Promise<void> => {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const file = await open(target, exclusive, 0o600);
  try {
    await file.writeFile(entry as AsyncIterable<Uint8Array>);
  } finally {
    await file.close();
  }
};

/**
 * Unpacks `archive` into `folder`, an empty folder that nobody else writes to. Files have the mode 0600 and folders
 * 0700. Throws a `ProfileArchiveError` for an archive that breaks a rule, and the error of `archive`; the folder then
 * has a part, and is to be deleted.
 */
export const unpackProfile = async (
  { archive, folder }: { archive: AsyncIterable<Uint8Array>; folder: string },
  { signal, limits = archiveLimits }: { signal: AbortSignal; limits?: ArchiveLimits },
): Promise<void> => {
  let entries = 0;
  let bytes = 0;
  const onEntry = async (entry: ReadEntry): Promise<void> => {
    signal.throwIfAborted();
    const path = pathOf(entry, limits);
    if (entry.type !== "File" && entry.type !== "OldFile" && !isFolder(entry))
      throw new ProfileArchiveError(
        `the archive has a ${entry.type} where a profile has files: ${JSON.stringify(path)}`,
      );
    entries += 1;
    bytes += entry.size;
    if (entries > limits.entries || bytes > limits.bytes)
      throw new ProfileArchiveError(`the archive has more than ${limits.entries} files or ${limits.bytes} bytes`);
    const target = join(folder, path);
    if (isFolder(entry) && !isLeftOut(path))
      await inFreePlace(path, () => mkdir(target, { recursive: true, mode: 0o700 }));
    if (isFolder(entry) || isLeftOut(path)) entry.resume();
    else await inFreePlace(path, () => writeEntry(entry, target));
  };
  const packed = counted(archive, { most: limits.packedBytes, what: "the archive" });
  const tar = counted(decompressed(packed), { most: tarBytes(limits), what: "the unpacked archive" });
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of tar) {
      signal.throwIfAborted();
      yield chunk;
    }
  };
  await readEntries(watched(), onEntry);
};
