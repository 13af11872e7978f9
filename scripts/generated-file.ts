import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";

/** Root folder of the repository. */
export const root = join(import.meta.dirname, "..");

/**
 * Writes a generated file, or with `check` only compares it. Returns its name within the repository. Throws an Error that
 * names a file that is missing or differs.
 */
export const generateFile = async (path: string, text: string, { check }: { check: boolean }): Promise<string> => {
  const name = relative(root, path);
  if (!check) await writeFile(path, text);
  else if ((await readFile(path, "utf8").catch(() => undefined)) !== text)
    throw new Error(`stale: ${name}; run \`npm run gen\``);
  return name;
};
