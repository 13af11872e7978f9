import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The content of `<data-dir>/local.json`, from which programs learn about a running local mode. */
export type Connection = { url: string; api_key: string; kubeconfig: string; redis_url: string; pid: number };

const pathIn = (dataDir: string): string => join(dataDir, "local.json");

/** Writes the file in one step, readable by its owner only: it contains the API key and the password of Redis. */
export const writeConnection = async (dataDir: string, connection: Connection): Promise<void> => {
  const draft = `${pathIn(dataDir)}.new`;
  await writeFile(draft, `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, pathIn(dataDir));
};

/** Removes the file: nothing runs here any more. */
export const removeConnection = (dataDir: string): Promise<void> => rm(pathIn(dataDir), { force: true });
