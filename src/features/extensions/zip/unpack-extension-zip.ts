import { constants } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { type CheckedExtension, type EntrySink, readExtensionZip } from "./check-extension-zip.ts";

/** What is in an archive never decides about rights: nothing of an extension is executed. */
const fileMode = 0o644;
const folderMode = 0o755;

/** A file is made, never opened: an archive can't write to what is there, nor through a link. */
const onlyNew = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes entries below `folder`, which only this call writes to. Makes each of their folders once, so none can be a
 * link either.
 */
const writeBelow = (folder: string): EntrySink => {
  const made = new Set<string>();
  const makeFolders = async (segments: string[]): Promise<void> => {
    let path = folder;
    for (const segment of segments) {
      path = join(path, segment);
      if (made.has(path)) continue;
      await mkdir(path, { mode: folderMode });
      made.add(path);
    }
  };
  return async ({ segments, isFolder }, chunks) => {
    await makeFolders(isFolder ? segments : segments.slice(0, -1));
    await using file = isFolder ? undefined : await open(join(folder, ...segments), onlyNew, fileMode);
    for await (const chunk of chunks) await file?.writeFile(chunk);
  };
};

/**
 * Unpacks the archive at `path` into `folder`, which it makes and which must not be there yet, with the same checks as
 * at its upload. Leaves nothing behind when it throws. `sha256`: the digest that the archive must have, hex. Throws
 * `ArchiveRefused` and the reason of the signal.
 */
export const unpackExtensionZip = async (
  { path, folder, sha256 }: { path: string; folder: string; sha256: string },
  { signal }: { signal: AbortSignal },
): Promise<CheckedExtension> => {
  await using file = await open(path, "r");
  await mkdir(folder, { mode: folderMode });
  try {
    return await readExtensionZip(file, writeBelow(folder), { signal, sha256 });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
};
