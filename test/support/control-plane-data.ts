import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Makes `dataDir` that of a control plane which ran before: `from` is its folder, which stays as it is. */
export const copyControlPlaneData = async (from: string, dataDir: string): Promise<void> => {
  await mkdir(dataDir, { recursive: true });
  // etcd reserves space that it has not written to.
  await promisify(execFile)("cp", ["--recursive", "--sparse=always", join(from, "etcd"), dataDir]);
};
