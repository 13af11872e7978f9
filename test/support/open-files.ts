import { readdir, readlink } from "node:fs/promises";

/**
 * Paths of what this process has open; what has no path any more keeps its last one, with a note of the kernel behind
 * it.
 */
export const openFiles = async (): Promise<string[]> => {
  const links = (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ""));
  return Promise.all(links);
};
