import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import type { FileInfo } from "../calls.ts";
import { pathOf } from "../session-path.ts";
import { refuseBy } from "./refuse.ts";
import type { OpenFolder } from "./session-folder.ts";

/** Most entries of a folder that are listed, and most bytes of their names and paths together. */
const mostListed = 20_000;
const mostNameBytes = 4 * 1024 ** 2;

/** Looks at so many entries at once. */
const atOnce = 64;

const typeOf = (stats: Stats): string => {
  if (stats.isDirectory()) return "d";
  if (stats.isSymbolicLink()) return "l";
  if (stats.isFIFO()) return "p";
  return stats.isSocket() ? "s" : "-";
};

const permissionsOf = ({ mode }: Stats): string =>
  [6, 3, 0]
    .map((shift) => (mode >> shift) & 7)
    .map((bits) => `${bits & 4 ? "r" : "-"}${bits & 2 ? "w" : "-"}${bits & 1 ? "x" : "-"}`)
    .join("");

/** What a caller is told of an entry. `names`: its path below the root. */
export const infoOf = (names: readonly string[], stats: Stats): FileInfo => {
  const path = pathOf(names);
  return {
    name: path.slice(path.lastIndexOf("/") + 1),
    path,
    is_dir: stats.isDirectory(),
    size_bytes: stats.isDirectory() ? 0 : stats.size,
    mode: `${typeOf(stats)}${permissionsOf(stats)}`,
    mod_time: stats.mtime.toISOString(),
  };
};

/** The names in an open folder, in order; at the root without what is none of the session. Throws a `CallRefused`. */
export const namesOfFolder = async ({ path, entries }: OpenFolder, most: number): Promise<string[]> => {
  const found: string[] = [];
  let bytes = 0;
  try {
    for await (const name of entries()) {
      found.push(name);
      bytes += Buffer.byteLength(name) + Buffer.byteLength(path);
      if (found.length > most || bytes > mostNameBytes)
        throw new CallRefused("payload_too_large", `${path} has too many entries; download it as a zip`);
    }
  } catch (error) {
    throw refuseBy(error, path);
  }
  return found.sort();
};

/** Every entry of an open folder. What vanishes meanwhile is left out. Throws a `CallRefused`. */
export const listFolder = async (folder: OpenFolder): Promise<FileInfo[]> => {
  const names = await namesOfFolder(folder, mostListed);
  const listed: FileInfo[] = [];
  for (let from = 0; from < names.length; from += atOnce) {
    const some = names.slice(from, from + atOnce).map(async (name): Promise<FileInfo[]> => {
      const stats = await lstat(`${folder.at}/${name}`).catch(() => undefined);
      return stats ? [infoOf([...folder.names, name], stats)] : [];
    });
    listed.push(...(await Promise.all(some)).flat());
  }
  return listed;
};
