/**
 * Packs a user-data directory of Chromium. Chromium must have ended by `Browser.close`: then it writes what it has in
 * memory. After SIGTERM, cookies and local storage of the last seconds were missing (measured with 156, headless).
 */

import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { Readable, type Writable } from "node:stream";
import { constants, createZstdCompress } from "node:zlib";
import { create } from "tar";
import { isLeftOut } from "./left-out.ts";
import { type ArchiveLimits, archiveLimits, ProfileArchiveError } from "./limits.ts";

/**
 * Told of the end while its last chunk waits, zstd makes other bytes of the same input than told after it. So it is
 * always told after it.
 */
const feed = async (source: Readable, packed: Writable): Promise<void> => {
  for await (const chunk of source)
    await new Promise<void>((resolve, reject) => {
      packed.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  packed.end();
};

/**
 * The bytes of `source` as zstd: the same for the same bytes, however they come. Fails as `source` does. Its checksum
 * finds damage that a digest of the whole would only find at the end.
 */
export const compress = (source: Readable): Readable => {
  const packed = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  feed(source, packed).catch((error: Error) => packed.destroy(error));
  return packed;
};

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1024 ** 2)} MiB`;

const tooMany = ({ entries }: ArchiveLimits): ProfileArchiveError =>
  new ProfileArchiveError(`the profile has more than ${entries} files: let sites store less in it`);

/** A path that `unpackProfile` would refuse is refused here: nobody could start with such a profile. */
const checkPath = (path: string, { depth, pathBytes }: ArchiveLimits): void => {
  if (path.split("/").length > depth || Buffer.byteLength(path) > pathBytes)
    throw new ProfileArchiveError(`the profile has a path that is too long: ${JSON.stringify(path.slice(0, 100))}`);
};

/** The paths to pack below `folder`: plain files and folders, in a fixed order, each folder before what is in it. */
const listPaths = async (folder: string, limits: ArchiveLimits, signal: AbortSignal): Promise<string[]> => {
  const paths: string[] = [];
  let bytes = 0;
  let seenEntries = 0;
  const add = async (path: string): Promise<void> => {
    signal.throwIfAborted();
    checkPath(path, limits);
    const seen = await lstat(join(folder, path));
    // A link or a socket is nobody's state: Chromium has them for its own processes only.
    const isPlain = seen.isDirectory() || (seen.isFile() && seen.nlink === 1);
    if (!isPlain || isLeftOut(path)) return;
    paths.push(path);
    bytes += seen.isFile() ? seen.size : 0;
    if (paths.length > limits.entries) throw tooMany(limits);
    if (bytes > limits.bytes)
      throw new ProfileArchiveError(`the profile has more than ${megabytes(limits.bytes)}: let sites store less in it`);
    if (seen.isDirectory()) await addAll(path);
  };
  /** Links and what is left out count here, too: whoever filled the folder has no say in how long this takes. */
  const namesIn = async (parent: string): Promise<string[]> => {
    const names: string[] = [];
    for await (const { name } of await opendir(join(folder, parent))) {
      seenEntries += 1;
      if (seenEntries > 2 * limits.entries) throw tooMany(limits);
      names.push(name);
    }
    return names.sort();
  };
  const addAll = async (parent: string): Promise<void> => {
    for (const name of await namesIn(parent)) await add(parent === "" ? name : `${parent}/${name}`);
  };
  await addAll("");
  return paths;
};

/**
 * The bytes of a tar.zst of the user-data directory `folder`. Owners are left out, and modes are the owner's alone.
 * Throws a `ProfileArchiveError` above a limit, and the error of a file that can't be read or that changes meanwhile.
 */
export const packProfile = async function* (
  folder: string,
  { signal, limits = archiveLimits }: { signal: AbortSignal; limits?: ArchiveLimits },
): AsyncGenerator<Uint8Array> {
  const paths = await listPaths(folder, limits, signal);
  signal.throwIfAborted();
  const options = { cwd: folder, portable: true, noDirRecurse: true, strict: true };
  const entries = create(options, [".", ...paths.map(asPlainPath)]);
  // It tells of a file that can't be read twice: to whoever reads it, and when nobody does any more. Without a
  // listener, the process ends.
  entries.on("error", () => undefined);
  const tar = Readable.from(entries, { objectMode: false });
  const packed = compress(tar);
  const stop = (): void => void tar.destroy(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  let bytes = 0;
  try {
    for await (const chunk of packed as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > limits.packedBytes)
        throw new ProfileArchiveError(`the packed profile has more than ${megabytes(limits.packedBytes)}`);
      yield chunk;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    tar.destroy();
    packed.destroy();
  }
};

/** `tar` takes a path that begins with @ for another archive whose entries to add. */
const asPlainPath = (path: string): string => `./${path}`;
