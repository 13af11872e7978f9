import { Readable } from "node:stream";
import { ZipFile } from "yazl";

type About = { mtime: Date; mode: number };

/** A zip takes no backslashes, which programs read as slashes, and no drives: both get an underscore. */
const nameInZip = (names: readonly string[]): string =>
  names
    .join("/")
    .replaceAll("\\", "_")
    .replace(/^([a-z]):/i, "$1_");

/** An archive that is made while it is sent. `names`: of an entry and the folders around it, from the top. */
export const startZip = () => {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  // yazl tells of a file that can't be read here, and leaves its output without an end.
  zip.on("error", (error) => output.destroy(error as Error));
  return {
    addFolder: (names: readonly string[], about: About): void => zip.addEmptyDirectory(nameInZip(names), about),
    /** `read`: called when its turn comes; a failure breaks the archive off. */
    addFile: (names: readonly string[], about: About, read: () => AsyncIterable<Uint8Array>): void =>
      zip.addReadStreamLazy(nameInZip(names), about, (callback) =>
        callback(null, Readable.from(read(), { objectMode: false })),
      ),
    /** No entry follows. Returns the bytes of the whole. */
    end(): AsyncIterable<Uint8Array> {
      zip.end();
      return output;
    },
  };
};
