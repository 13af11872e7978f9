/**
 * The folders that Chromium can write to and that belong to this agent alone: a pod's /tmp and /dev/shm, in local mode the pod's
 * folder. A holder with CDP can send downloads to any of them.
 */
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentConfig } from "./agent-config.ts";

/** `deleted`: resolves when the disk space is free again; rejects when something could not be deleted. */
export type Cleared = { deleted: Promise<void> };

const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
};

/** Moves all but `kept` into a new folder beside them; undefined when there is nothing to move. */
const moveAside = async (folder: string, kept: string): Promise<string | undefined> => {
  const names = (await namesIn(folder)).filter((name) => join(folder, name) !== kept);
  if (names.length === 0) return undefined;
  const trash = await mkdtemp(join(folder, ".former-"));
  for (const name of names) await rename(join(folder, name), join(trash, name));
  return trash;
};

/**
 * Takes everything out of the scratch folders but the termination log. It resolves when all is moved out of the way, so that a new
 * browser can start in them while the old files are deleted. Rejects when something can't be moved. Call it while no browser runs.
 */
export const clearScratch = async ({ scratchDirs, terminationLog }: AgentConfig): Promise<Cleared> => {
  const kept = (folder: string): string => (dirname(terminationLog) === folder ? terminationLog : "");
  const moved = await Promise.all(scratchDirs.map((folder) => moveAside(folder, kept(folder))));
  const trash = moved.filter((folder) => folder !== undefined);
  const deleted = Promise.all(trash.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
  return { deleted: deleted.then(() => undefined) };
};
