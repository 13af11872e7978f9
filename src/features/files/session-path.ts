/**
 * Paths of a session's files, as callers and its browser see them: below `/tmp`, in POSIX' form. A path is taken apart
 * here and put together nowhere: who walks it opens one folder after the other (session-folder.ts).
 */
import { filesRoot } from "../../core/agent/files-dir.ts";

/** Longest path, bytes, and most folders in it. */
const maxPathBytes = 4096;
const maxDepth = 64;

/** Longest name of a file, bytes: what file systems take. */
const maxNameBytes = 255;

/** A path that is none of a session's. The message follows the name of its field. */
export class BadPath extends Error {
  override name = "BadPath";
}

/** The names below the root that a path leads through; none for the root. Throws a `BadPath`. */
export const namesIn = (path: string): string[] => {
  if (Buffer.byteLength(path) > maxPathBytes) throw new BadPath(`has ${maxPathBytes} bytes at most`);
  if (!path.isWellFormed() || path.includes("\0")) throw new BadPath("is no path");
  if (!path.startsWith("/")) throw new BadPath("must be absolute");
  const [root, ...names] = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..") || root === "..") throw new BadPath('must not have ".." in it');
  if (`/${root}` !== filesRoot) throw new BadPath(`must be below ${filesRoot}: a session has its files there`);
  if (names.length > maxDepth) throw new BadPath(`has ${maxDepth} folders at most`);
  if (names.some((name) => Buffer.byteLength(name) > maxNameBytes))
    throw new BadPath(`has names of ${maxNameBytes} bytes at most`);
  return names;
};

/** The path that these names below the root make. */
export const pathOf = (names: readonly string[]): string => [filesRoot, ...names].join("/");
