import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Section } from "./section.ts";

const folder = join(import.meta.dirname, "sections");

/**
 * Loads the sections with these names, in this order; without names, all of them by name. Throws on an unknown name.
 */
export const loadSections = async (only: readonly string[]): Promise<Section[]> => {
  const files = await readdir(folder, { withFileTypes: true });
  const names = files.flatMap((file) => (file.isFile() && file.name.endsWith(".ts") ? file.name.slice(0, -3) : []));
  const unknown = only.find((name) => !names.includes(name));
  if (unknown) throw new Error(`there is no section ${unknown}; there are: ${names.sort().join(", ")}`);
  const chosen = only.length > 0 ? only : names.sort();
  return Promise.all(
    chosen.map(async (name) => ((await import(join(folder, `${name}.ts`))) as { section: Section }).section),
  );
};
