import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";

/** Root folder of the repository. */
export const root = join(import.meta.dirname, "..");

/**
 * Writes a generated file, or with `check` only compares it. Returns its path in the repository. Throws an Error that
 * names a missing or stale file.
 */
export const generateFile = async (path: string, text: string, { check }: { check: boolean }): Promise<string> => {
  const name = relative(root, path);
  if (!check) await writeFile(path, text);
  else if ((await readFile(path, "utf8").catch(() => undefined)) !== text)
    throw new Error(`stale: ${name}; run \`npm run gen\``);
  return name;
};

const readText = (path: string): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined);

/** Names of files that differ from the generated text, are missing, or should not exist. */
const staleFiles = async (folder: string, texts: Map<string, string>): Promise<string[]> => {
  const present = (await readdir(folder)).filter((file) => file.endsWith(".yaml"));
  const names = [...new Set([...texts.keys(), ...present])].sort();
  const found = await Promise.all(names.map((name) => readText(join(folder, name))));
  return names.filter((name, index) => found[index] !== texts.get(name));
};

/**
 * Writes generated YAML files (name → text) into a folder that has no other files, or with `check` only compares them.
 * `name`: the folder's name in errors. Throws an Error that names every file that is missing, differs or should not
 * exist.
 */
export const generateFolder = async (
  { path, name }: { path: string; name: string },
  texts: Map<string, string>,
  { check }: { check: boolean },
): Promise<void> => {
  await mkdir(path, { recursive: true });
  if (!check) {
    await Promise.all([...texts].map(([file, text]) => writeFile(join(path, file), text)));
    return;
  }
  const stale = await staleFiles(path, texts);
  if (stale.length > 0)
    throw new Error(`stale: ${stale.map((file) => `${name}/${file}`).join(", ")}; run \`npm run gen\``);
};
