import { open } from "node:fs/promises";
import {
  type CheckedExtension,
  checkExtensionZip,
} from "../../../../src/features/extensions/zip/check-extension-zip.ts";
import type { ZipEntry } from "../../../support/zip-writer.ts";

/** A manifest that Chromium takes. */
export const manifest = (fields: object = {}): ZipEntry => ({
  name: "manifest.json",
  content: JSON.stringify({ manifest_version: 3, name: "Sample", version: "1.2.3", ...fields }),
});

/** Checks the archive in this file. */
export const checkFile = async (path: string): Promise<CheckedExtension> => {
  await using file = await open(path, "r");
  return await checkExtensionZip(file, { signal: new AbortController().signal });
};
