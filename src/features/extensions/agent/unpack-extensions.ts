import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ReceivedSetup } from "../../../core/agent/receive-setup.ts";
import type { BrowserSetup } from "../../../core/protocol/browser-setup.ts";
import { parseManifest } from "../zip/manifest.ts";
import { unpackExtensionZip } from "../zip/unpack-extension-zip.ts";
import type { UnpackedExtension } from "./load-extensions.ts";

/**
 * Gives the extension a `key` unless its manifest has one. Chromium computes an extension's id from it, else from the
 * folder, which is another one at each start.
 */
const keepId = async (folder: string, id: string): Promise<void> => {
  const file = join(folder, "manifest.json");
  const text = (await readFile(file, "utf8")).replace(/^\uFEFF/, "");
  const manifest = parseManifest(text) as Record<string, unknown>;
  if (manifest.key !== undefined) return;
  await writeFile(file, JSON.stringify({ ...manifest, key: Buffer.from(id).toString("base64") }));
};

/**
 * Unpacks extensions, in load order, into folders below `parent`, which it makes. Rejects when an archive has been
 * changed.
 */
export const unpackExtensions = async (
  { extensions, archive }: Pick<BrowserSetup, "extensions"> & Pick<ReceivedSetup, "archive">,
  parent: string,
  signal: AbortSignal,
): Promise<UnpackedExtension[]> => {
  await mkdir(parent, { mode: 0o700 });
  const unpacked: UnpackedExtension[] = [];
  for (const [index, { id, name, ...ref }] of extensions.entries()) {
    const folder = join(parent, String(index));
    await unpackExtensionZip({ path: archive(ref), folder, sha256: ref.sha256 }, { signal });
    await keepId(folder, id);
    unpacked.push({ name, folder });
  }
  return unpacked;
};
