import { readFile } from "node:fs/promises";
import { flushCompileCache } from "node:module";

/** Imports of our own files that remain when the types are taken away, the dynamic ones too. */
const ownImports = /(?:^import (?!type )(?:[^;"]* from )?|^export [^;"]* from |\bimport\()"(\.{1,2}\/[^"]+\.ts)"/gm;

const importAll = async (file: URL, done: Set<string>): Promise<void> => {
  if (done.has(file.href)) return;
  done.add(file.href);
  await import(file.href);
  for (const [, path = ""] of (await readFile(file, "utf8")).matchAll(ownImports))
    await importAll(new URL(path, file), done);
};

/**
 * Imports all code that an agent may ever load, so that Node's compile cache (NODE_COMPILE_CACHE) has it. An agent that
 * meets one file of TypeScript that is not there loads Node's compiler: 20 MB for as long as it runs.
 */
export const compileAgent = async (): Promise<void> => {
  await importAll(new URL("agent-process.ts", import.meta.url), new Set());
  flushCompileCache();
};
