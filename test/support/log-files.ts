/** What a local mode has written into its logs. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The texts of all its logs, also of those of its servers and of browsers that have ended. */
export const logTexts = async (dataDir: string): Promise<string[]> => {
  const files = await readdir(join(dataDir, "logs"), { recursive: true, withFileTypes: true });
  return Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "utf8")),
  );
};
