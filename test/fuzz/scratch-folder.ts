/** A folder for archives and what comes out of them: in memory, where the machine has such a place. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { must } from "./target.ts";

const inMemory = "/dev/shm";

export type ScratchFolder = {
  /** Deep enough that what climbs out of it stays in the folder of this run. */
  out: string;
  /** A file beside it, for an archive. */
  archive: string;
  /** Empties `out`. Throws when there is anything outside of it. */
  empty(): Promise<void>;
  remove(): Promise<void>;
};

/** Makes one. */
export const scratchFolder = async (name: string): Promise<ScratchFolder> => {
  const top = await mkdtemp(join(existsSync(inMemory) ? inMemory : tmpdir(), `bp-fuzz-${name}-`));
  const folder = join(top, "a/b/c");
  const out = join(folder, "out");
  await mkdir(out, { recursive: true });
  const archive = join(folder, "archive");
  return {
    out,
    archive,
    async empty() {
      await rm(out, { recursive: true, force: true });
      const left = (await readdir(top, { recursive: true })).filter((path) => path !== "a/b/c/archive").sort();
      must(left.join() === "a,a/b,a/b/c", `outside of its folder: ${left.join()}`);
      await mkdir(out);
    },
    remove: () => rm(top, { recursive: true, force: true }),
  };
};
