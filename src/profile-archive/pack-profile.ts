/**
 * Packs a user-data directory of Chromium. Chromium must have ended by `Browser.close`: then it writes what it has in memory. After
 * SIGTERM, cookies and local storage of the last seconds were missing (measured with 156, headless).
 */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { constants, createZstdCompress } from "node:zlib";
import { create } from "tar";
import { isLeftOut } from "./left-out.ts";
import { type ArchiveLimits, archiveLimits, ProfileArchiveError } from "./limits.ts";

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1024 ** 2)} MiB`;

/** The paths to pack below `folder`: plain files and folders, in a fixed order, each folder before what is in it. */
const listPaths = async (folder: string, limits: ArchiveLimits): Promise<string[]> => {
  const paths: string[] = [];
  let bytes = 0;
  const add = async (path: string): Promise<void> => {
    const seen = await lstat(join(folder, path));
    // A link or a socket is nobody's state: Chromium has them for its own processes only.
    const isPlain = seen.isDirectory() || (seen.isFile() && seen.nlink === 1);
    if (!isPlain || isLeftOut(path)) return;
    paths.push(path);
    bytes += seen.isFile() ? seen.size : 0;
    if (paths.length > limits.entries)
      throw new ProfileArchiveError(`the profile has more than ${limits.entries} files: let sites store less in it`);
    if (bytes > limits.bytes)
      throw new ProfileArchiveError(`the profile has more than ${megabytes(limits.bytes)}: let sites store less in it`);
    if (seen.isDirectory()) await addAll(path);
  };
  const addAll = async (parent: string): Promise<void> => {
    for (const name of (await readdir(join(folder, parent))).sort())
      await add(parent === "" ? name : `${parent}/${name}`);
  };
  await addAll("");
  return paths;
};

/** A compressor of the archive's bytes; the checksum finds damage that a digest of the whole would only find at the end. */
const compressor = () =>
  createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
  });

/**
 * The bytes of a tar.zst of the user-data directory `folder`. Owners are left out, and modes are the owner's alone. Throws a
 * `ProfileArchiveError` above a limit, and the error of a file that can't be read or that changes meanwhile.
 */
export const packProfile = async function* (
  folder: string,
  { signal, limits = archiveLimits }: { signal: AbortSignal; limits?: ArchiveLimits },
): AsyncGenerator<Uint8Array> {
  const paths = await listPaths(folder, limits);
  signal.throwIfAborted();
  const options = { cwd: folder, portable: true, noDirRecurse: true, strict: true };
  const tar = Readable.from(create(options, [".", ...paths.map(asPlainPath)]), { objectMode: false });
  const packed = compressor();
  const stop = (): void => void tar.destroy(signal.reason);
  tar.on("error", (error) => packed.destroy(error));
  signal.addEventListener("abort", stop, { once: true });
  let bytes = 0;
  try {
    for await (const chunk of tar.pipe(packed) as AsyncIterable<Uint8Array>) {
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
