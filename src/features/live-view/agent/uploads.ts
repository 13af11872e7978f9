/** Files that viewers give to a page: written into a folder of the browser, which goes with it. */
import { appendFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { mostFileBytes, mostUploadedBytes } from "./viewer-message.ts";

type Upload = {
  /** A further part of a file, by the file's place among them. */
  add(part: { file: number; name: string; data: string }): void;
  /** The paths, when all is written. Rejects when that failed, or the files are too large. */
  finish(): Promise<string[]>;
  /** Removes what was written. */
  drop(): void;
};

export type Uploads = { begin(): Upload };

/** A name that leads to no other folder. */
const safeName = (name: string): string => {
  const plain = [...name].map((char) => (/[/\\]/.test(char) || char < " " ? "_" : char)).join("");
  return /^\.*$/.test(plain)
    ? "file"
    : Buffer.from(plain)
        .subarray(0, 200)
        .toString()
        .replace(/\uFFFD+$/, "");
};

/** `dir`: made when the first file comes. */
export const createUploads = (dir: string): Uploads => {
  let total = 0;
  return {
    begin() {
      const paths = new Map<number, string>();
      let bytes = 0;
      let folder: Promise<string> | undefined;
      let written: Promise<unknown> = Promise.resolve();
      const open = async (): Promise<string> => {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        return mkdtemp(join(dir, "files-"));
      };
      const write = async (into: Promise<string>, file: number, name: string, data: Buffer): Promise<void> => {
        const place = join(await into, String(file));
        await mkdir(place, { recursive: true, mode: 0o700 });
        const path = paths.get(file) ?? join(place, safeName(name));
        paths.set(file, path);
        await appendFile(path, data, { mode: 0o600 });
      };
      const drop = (): void => {
        total -= bytes;
        bytes = 0;
        const removed = written
          .catch(() => undefined)
          .then(async () => folder && rm(await folder, { recursive: true, force: true }));
        removed.catch(() => undefined);
      };
      return {
        add({ file, name, data }) {
          const part = Buffer.from(data, "base64");
          bytes += part.length;
          total += part.length;
          if (bytes > mostFileBytes || total > mostUploadedBytes) {
            written = Promise.reject(new Error("the files are too large"));
          } else {
            folder ??= open();
            const into = folder;
            written = written.then(() => write(into, file, name, part));
          }
          written.catch(() => undefined);
        },
        async finish() {
          await written;
          return [...paths.entries()].sort(([one], [other]) => one - other).map(([, path]) => path);
        },
        drop,
      };
    },
  };
};
