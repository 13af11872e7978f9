import type { ZipEntry } from "../support/zip-writer.ts";

/** A manifest that Chromium takes. */
export const manifest = (fields: object = {}): ZipEntry => ({
  name: "manifest.json",
  content: JSON.stringify({ manifest_version: 3, name: "Sample", version: "1.2.3", ...fields }),
});
