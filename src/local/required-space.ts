import { statfs } from "node:fs/promises";

const mib = 2 ** 20;

/** etcd alone takes 128 MiB at once; without it, it ends with an error that names no disk. */
const neededMib = 300;

/** Throws when the disk of a folder is too full for a start. */
export const requireSpace = async (folder: string): Promise<void> => {
  const { bavail, bsize } = await statfs(folder);
  const freeMib = Math.floor((bavail * bsize) / mib);
  if (freeMib < neededMib)
    throw new Error(
      `${freeMib} MiB are free for ${folder}, of ${neededMib} MiB that a start needs: free some, or choose another folder with --data-dir`,
    );
};
