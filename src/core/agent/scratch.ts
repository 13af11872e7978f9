/**
 * The folders that Chromium can write to and that belong to this agent alone: a pod's /tmp and /dev/shm, in local mode the pod's
 * folder. A holder with CDP can send downloads to any of them.
 */
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { AgentConfig } from "./agent-config.ts";
import { archivesDir } from "./receive-setup.ts";

/** `remove`: deletes what was moved away; rejects when something can't be deleted. */
type Cleared = { remove(): Promise<void> };

const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
};

/** Moves all but the paths in `kept` into a new folder beside them; undefined when there is nothing to move. */
const moveAside = async (folder: string, kept: ReadonlySet<string>): Promise<string | undefined> => {
  const names = (await namesIn(folder)).filter((name) => !kept.has(join(folder, name)));
  if (names.length === 0) return undefined;
  const trash = await mkdtemp(join(folder, ".former-"));
  for (const name of names) await rename(join(folder, name), join(trash, name));
  return trash;
};

/**
 * Moves everything but what is the agent's own out of the way, so that a new browser can start in the scratch folders before the old
 * files are deleted. `others`: further paths that stay. Rejects when something can't be moved. Call it while no browser runs.
 */
export const clearScratch = async (config: AgentConfig, others: readonly string[] = []): Promise<Cleared> => {
  // The next start writes the policies anew, and checks the archives' digests.
  const kept = new Set([config.terminationLog, archivesDir(config), config.policyDir ?? "", ...others]);
  const moved = await Promise.all(config.scratchDirs.map((folder) => moveAside(folder, kept)));
  const trash = moved.filter((folder) => folder !== undefined);
  return {
    async remove() {
      await Promise.all(trash.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
    },
  };
};
