/**
 * Blobs as files of a folder, one for each key. A put writes a part file beside them, and renames it when it is whole
 * and on the disk. A crash leaves nothing but part files, which a later start removes. Several processes may share the
 * folder.
 */
import { randomUUID } from "node:crypto";
import { access, constants, mkdir, open, readdir, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type BlobStore, checkKey, type ListedBlob } from "./blob-store.ts";
import { measureBody } from "./measured-body.ts";
import { blobBody, orStoreError } from "./store-error.ts";

/** A part file that nobody has written to for so long is of a dead process. The longest put stands still for less. */
const oldPartMs = 3_600_000;

/** Names of part files begin with a dot, and no key has one. */
const isPart = (name: string): boolean => /^\.[0-9a-f-]{36}\.part$/.test(name);

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");

const removeOldParts = async (root: string): Promise<void> => {
  for (const name of (await readdir(root)).filter(isPart)) {
    const path = join(root, name);
    const seen = await stat(path).catch(() => undefined); // another process may have removed it
    if (seen && Date.now() - seen.mtimeMs > oldPartMs) await rm(path, { force: true });
  }
};

/** The folders from the file's own up to `root`. */
const foldersOf = (path: string, root: string): string[] => {
  const folder = dirname(path);
  return folder === root ? [folder] : [folder, ...foldersOf(folder, root)];
};

/** A folder that is gone has been emptied by a delete of what was put: nothing is left to make durable. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  if (!folder) return;
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/** A delete beside this put may remove the folder in between; each try needs another delete to fail. */
const moveTries = 10;

const move = async (part: string, path: string, root: string): Promise<void> => {
  for (let tries = 1; ; tries++) {
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(part, path);
      break;
    } catch (error) {
      if (!isMissing(error) || tries === moveTries) throw error;
    }
  }
  for (const folder of foldersOf(path, root)) await syncFolder(folder);
};

const removeEmptyFolders = async (path: string, root: string): Promise<void> => {
  for (const folder of foldersOf(path, root)) {
    if (folder === root) return;
    const isGone = await rmdir(folder).then(
      () => true,
      () => false, // it has other blobs
    );
    if (!isGone) return;
  }
};

const writePart = async (part: string, bytes: AsyncIterable<Uint8Array>): Promise<void> => {
  const file = await open(part, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** `root`: an absolute path; made when it is missing. Throws when it can't be used. */
export const openFolderStore = async (root: string): Promise<BlobStore> => {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await removeOldParts(root);
  const pathOf = (key: string): string => {
    checkKey(key);
    return join(root, key);
  };
  /** Without its folder, e.g. a volume that is not there, nobody can say that there is no blob. */
  const checkRoot = (): Promise<void> => access(root, constants.R_OK | constants.W_OK | constants.X_OK);
  const unlessMissing = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
    // The second try is for a folder that came back after the first one.
    for (let tries = 1; tries <= 2; tries++) {
      try {
        return await call();
      } catch (error) {
        if (!isMissing(error)) throw error;
        await checkRoot();
      }
    }
    return undefined;
  };
  return {
    async put(key, body, { signal }) {
      const path = pathOf(key);
      const part = join(root, `.${randomUUID()}.part`);
      const measured = measureBody(body, signal);
      try {
        await orStoreError(writePart(part, measured.read()), signal);
        signal.throwIfAborted();
        await orStoreError(move(part, path, root), signal);
      } catch (error) {
        await rm(part, { force: true }).catch(() => undefined);
        throw measured.sourceError()?.error ?? error;
      }
      return measured.result();
    },
    async get(key, { signal, range }) {
      const path = pathOf(key);
      const file = await orStoreError(
        unlessMissing(() => open(path, "r")),
        signal,
      );
      if (!file) return undefined;
      const { size } = await orStoreError(file.stat(), signal).catch(async (error: unknown) => {
        await file.close();
        throw error;
      });
      if (!range) return { bytes: size, body: blobBody(file.createReadStream(), signal) };
      const { start, end } = range;
      return { bytes: end - start, body: blobBody(file.createReadStream({ start, end: end - 1 }), signal) };
    },
    async delete(key, { signal }) {
      const path = pathOf(key);
      const isDeleted = await orStoreError(
        unlessMissing(() => unlink(path).then(() => true)),
        signal,
      );
      if (isDeleted) await removeEmptyFolders(path, root);
    },
    async *list(folder, { signal }) {
      const below = pathOf(folder);
      const found = await orStoreError(
        unlessMissing(() => readdir(below, { recursive: true, withFileTypes: true })),
        signal,
      );
      for (const entry of found ?? []) {
        signal.throwIfAborted();
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const seen = await stat(path).catch(() => undefined); // deleted meanwhile
        if (seen) yield { key: relative(root, path), bytes: seen.size, storedMs: seen.mtimeMs } satisfies ListedBlob;
      }
    },
    check: ({ signal }) => orStoreError(checkRoot(), signal),
  };
};
