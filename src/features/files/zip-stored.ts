import { AppError } from "../../platform/base/errors.ts";
import { startZip } from "./agent/start-zip.ts";
import { pathOf } from "./session-path.ts";
import type { StoredIndex } from "./stored-index.ts";

/** Most entries of an archive, folders included: they wait in memory until it is sent. */
const mostEntries = 10_000;

/** The permissions of an entry, as a zip has them; `mode` as `drwxr-x---`. */
const bitsOf = (mode: string): number =>
  [...mode.slice(1)].reduce((bits, letter) => bits * 2 + (letter === "-" ? 0 : 1), mode.startsWith("d") ? 0o40 : 0o100);

/**
 * A zip of the kept files below a folder, with paths relative to it. `read`: the bytes of one. Throws
 * `payload_too_large` before its first byte; a file that can't be read later breaks it off.
 */
export const zipStored = (
  index: StoredIndex,
  names: readonly string[],
  read: (entry: { at: number; bytes: number }) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> => {
  const zip = startZip();
  let entries = 0;
  for (const { names: inside, entry } of index.below(names)) {
    const { is_dir: isFolder, at, size_bytes: bytes, mode, mod_time } = entry;
    if (!isFolder && at === undefined) continue;
    entries += 1;
    if (entries > mostEntries)
      throw new AppError(
        "payload_too_large",
        `${pathOf(names)} has more than ${mostEntries} entries; ask for folders in it`,
      );
    const path = inside.slice(names.length);
    const about = { mtime: new Date(mod_time), mode: bitsOf(mode) };
    if (isFolder) zip.addFolder(path, about);
    else zip.addFile(path, about, () => read({ at: at ?? 0, bytes }));
  }
  return zip.end();
};
