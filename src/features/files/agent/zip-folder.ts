import { lstat } from "node:fs/promises";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { namesOfFolder } from "./file-info.ts";
import { openFile, type SessionFolder } from "./session-folder.ts";
import { startZip } from "./start-zip.ts";

/** Most entries of an archive, folders included. */
const mostEntries = 50_000;

type Entry = { names: readonly string[]; mtime: Date; mode: number; isFolder: boolean };

/** All folders and plain files below a folder, each folder before what is in it. Throws a `CallRefused`. */
const entriesOf = async function* (
  folder: SessionFolder,
  names: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Entry> {
  await using open = await folder.open(names);
  for (const name of await namesOfFolder(open, mostEntries)) {
    signal.throwIfAborted();
    const stats = await lstat(`${open.at}/${name}`).catch(() => undefined);
    const isFolder = stats?.isDirectory() ?? false;
    // A link could lead anywhere, and a pipe has no end.
    if (!stats || !(isFolder || stats.isFile())) continue;
    const inside = [...names, name];
    yield { names: inside, mtime: stats.mtime, mode: stats.mode, isFolder };
    if (isFolder) yield* entriesOf(folder, inside, signal);
  }
};

/** The bytes of a file as it is when its turn comes. */
const bytesOf = async function* (folder: SessionFolder, names: readonly string[]): AsyncGenerator<Uint8Array> {
  await using place = await folder.place(names);
  await using file = await openFile(place);
  yield* file.createReadStream({ autoClose: false });
};

/**
 * A zip of all plain files and folders below a folder, with paths relative to it. Rejects with a `CallRefused` before
 * its first byte; a file that vanishes later breaks it off.
 */
export const zipFolder = async (
  folder: SessionFolder,
  names: readonly string[],
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> => {
  const zip = startZip();
  let entries = 0;
  for await (const { names: inside, mtime, mode, isFolder } of entriesOf(folder, names, signal)) {
    entries += 1;
    if (entries > mostEntries)
      throw new CallRefused(
        "payload_too_large",
        `the folder has more than ${mostEntries} entries; ask for folders in it`,
      );
    const path = inside.slice(names.length);
    if (isFolder) zip.addFolder(path, { mtime, mode });
    else zip.addFile(path, { mtime, mode }, () => bytesOf(folder, inside));
  }
  return zip.end();
};
