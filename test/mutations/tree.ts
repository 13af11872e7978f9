/**
 * Copies of the project's tree, in which mistakes are made and tests run: the tree that people work in stays as it is,
 * and several mistakes can be tried at once. A copy has what git knows and would know, and shares `node_modules`.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { applyPatches, type SourcePatch } from "../robustness/hook/source-patch.ts";

/** The project's tree. */
export const root = resolve(import.meta.dirname, "../..");

export type Tree = AsyncDisposable & {
  folder: string;
  /** Makes mistakes, until the returned function is called. Rejects when a patch does not fit. */
  make(...patches: SourcePatch[]): Promise<() => Promise<void>>;
};

/** Paths of all files of the tree that git knows or would know. */
const filesOf = async (folder: string): Promise<string[]> => {
  const command = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await promisify(execFile)("git", command, { cwd: folder, maxBuffer: 2 ** 26 });
  // A link to the packages of another tree is no folder, which alone is ignored.
  return stdout.split("\0").filter((path) => path !== "" && path !== "node_modules");
};

/** A digest of all files of the project's tree. */
export const treeDigest = async (): Promise<string> => {
  const digest = createHash("sha256");
  for (const path of (await filesOf(root)).toSorted()) {
    digest.update(`${path}\0`);
    // A file that git knows may have been deleted.
    digest.update(await readFile(join(root, path)).catch(() => ""));
  }
  return digest.digest("hex");
};

/** Copies the tree. Disposing removes the copy. */
export const copyTree = async (): Promise<Tree> => {
  const folder = await mkdtemp(join(tmpdir(), "browserpool-mutations-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 10 });
  try {
    for (const path of await filesOf(root)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      // A file that git knows may have been deleted. Links of the tree stay in the copy.
      await cp(join(root, path), join(folder, path), { verbatimSymlinks: true }).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") throw error;
        },
      );
    }
    // Not a link to a link: the process of WebDriver BiDi may read what the first one names, and the packages.
    await symlink(await realpath(join(root, "node_modules")), join(folder, "node_modules"));
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    folder,
    async make(...patches) {
      const before = new Map<string, string>();
      const undo = async (): Promise<void> => {
        for (const [path, text] of before) await writeFile(path, text);
      };
      try {
        for (const file of new Set(patches.map((patch) => patch.file))) {
          const path = join(folder, "src", file);
          const text = await readFile(path, "utf8");
          const changed = applyPatches(file, text, patches);
          before.set(path, text);
          await writeFile(path, changed);
        }
      } catch (error) {
        await undo();
        throw error;
      }
      return undo;
    },
    [Symbol.asyncDispose]: remove,
  };
};
