import { rmdir, unlink } from "node:fs/promises";
import { refuseBy } from "./refuse.ts";
import type { SessionFolder } from "./session-folder.ts";

/** Whether it is a folder, which stays. */
const unlinkOrFolder = async (at: string, path: string): Promise<boolean> => {
  try {
    await unlink(at);
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EISDIR" || code === "EPERM") return true;
    if (code === "ENOENT") return false;
    throw refuseBy(error, path);
  }
};

/**
 * Removes all that is in a folder, and never what a link leads to; at the root not what is none of the session. Throws
 * a `CallRefused`.
 */
export const emptyFolder = async (
  folder: SessionFolder,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  await using open = await folder.open(names);
  for await (const name of open.entries()) {
    signal.throwIfAborted();
    const at = `${open.at}/${name}`;
    if (!(await unlinkOrFolder(at, `${open.path}/${name}`))) continue;
    await emptyFolder(folder, [...names, name], signal);
    await rmdir(at).catch((error: unknown) => {
      throw refuseBy(error, `${open.path}/${name}`);
    });
  }
};
