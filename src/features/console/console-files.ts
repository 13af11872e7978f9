/**
 * The files that the console's pages load.
 *
 *   built.json ──(images: written while they are built)──┐
 *   in-page/ ──bundled at the first request──────────────┴──► files by name, compressed
 */
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import { bundleConsole, type ConsoleBundle } from "./bundle-console.ts";

type ConsoleFile = { plain: Buffer; brotli: Buffer };

type ConsoleFiles = Omit<ConsoleBundle, "texts"> & { files: ReadonlyMap<string, ConsoleFile> };

/** Where an image has the bundle. */
export const builtConsole = new URL("built.json", import.meta.url);

const readBuilt = async (): Promise<ConsoleBundle | undefined> => {
  const text = await readFile(builtConsole, "utf8").catch(() => undefined);
  // Written by scripts/image/bundle-console.ts.
  return text === undefined ? undefined : (JSON.parse(text) as ConsoleBundle);
};

const load = async (): Promise<ConsoleFiles> => {
  const { texts, ...bundle } = (await readBuilt()) ?? (await bundleConsole());
  const files = new Map<string, ConsoleFile>();
  for (const [name, text] of Object.entries(texts)) {
    const plain = Buffer.from(text);
    files.set(name, { plain, brotli: await promisify(brotliCompress)(plain) });
  }
  return { ...bundle, files };
};

let loading: Promise<ConsoleFiles> | undefined;

/** The files; made once, at the first call. */
export const consoleFiles = (): Promise<ConsoleFiles> => {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
};
