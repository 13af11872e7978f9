/**
 * The folder of a session's files: what its browser sees as /tmp. Downloads land in it, whoever started them, and the
 * holder reaches it by calls (features/files). In a pod it is the pod's own /tmp, with the agent's folder in it.
 */
import { mkdirSync } from "node:fs";
import { mkdtemp, readdir, rename, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentConfig } from "./agent-config.ts";

/** Where the browser sees the folder, and holders too. */
export const filesRoot = "/tmp";

/** Where Chromium puts downloads, below the folder. */
export const downloadsFolder = "downloads";

/** The folder of the archives of a setup; a reset leaves it alone. */
export const archivesDir = ({ dataDir }: Pick<AgentConfig, "dataDir">): string => join(dataDir, "archives");

/** What a clean-up moves away before it deletes it. */
const formerPrefix = ".former-";

type FilesPlace = Pick<AgentConfig, "dataDir" | "filesDir">;

/** The entry of the root through which a path leads; undefined when it leads elsewhere. */
const entryOn = (path: string): string | undefined => {
  const [, first, name] = path.split("/");
  return `/${first}` === filesRoot ? name : undefined;
};

/**
 * Tells whether an entry right below the folder is none of the session: where the browser sees the agent's own folders,
 * X's sockets and locks, what is being deleted.
 */
export const agentsEntries = ({ dataDir }: Pick<FilesPlace, "dataDir">): ((name: string) => boolean) => {
  const own = new Set([entryOn(dataDir), entryOn(tmpdir()), ".X11-unix"]);
  return (name) => own.has(name) || /^\.X\d+-lock$/.test(name) || name.startsWith(formerPrefix);
};

/** Makes the folder, if it is missing. */
export const makeFilesDir = (filesDir: string): void => {
  mkdirSync(join(filesDir, downloadsFolder), { recursive: true, mode: 0o700 });
};

const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
};

/** Moves the entries of a folder that `goes` names into a new folder beside them; undefined when there are none. */
export const moveAside = async (folder: string, goes: (name: string) => boolean): Promise<string | undefined> => {
  const names = (await namesIn(folder)).filter(goes);
  if (names.length === 0) return undefined;
  const trash = await mkdtemp(join(folder, formerPrefix));
  for (const name of names) await rename(join(folder, name), join(trash, name));
  return trash;
};

/** Removes what `moveAside` has moved. Rejects when something can't be deleted. */
export const removeMoved = (trash: string): Promise<void> => rm(trash, { recursive: true, force: true, maxRetries: 5 });

const removeFiles = async ({ filesDir, dataDir }: FilesPlace): Promise<void> => {
  const isAgents = agentsEntries({ dataDir });
  const trash = await moveAside(filesDir, (name) => !isAgents(name));
  if (trash !== undefined) await removeMoved(trash);
};

/** Removes the files of a session from the folder of a browser that runs on. Rejects when something stays. */
export const clearFiles = async (place: FilesPlace): Promise<void> => {
  await removeFiles(place);
  makeFilesDir(place.filesDir);
};

/** Removes the files at the end of the agent, and the folder where it is not the pod's own. */
export const dropFiles = async (place: FilesPlace): Promise<void> => {
  await removeFiles(place);
  await rmdir(place.filesDir).catch(() => undefined);
};
