import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newApiKey } from "../services/api-key-secret.ts";

/** The organization's key of this data directory, made at the first start and kept in a file of its owner's. */
export const localApiKey = async (dataDir: string): Promise<string> => {
  const path = join(dataDir, "api-key");
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const key = newApiKey();
    await writeFile(path, `${key}\n`, { mode: 0o600, flag: "wx" });
    return key;
  }
};
