import { createdAt, wireId, wireName } from "../../platform/kinds/identity.ts";
import type { ExtensionRecord } from "./extension-wire.ts";
import type { StoredExtension } from "./fetch-extension.ts";

/** An extension as HTTP answers show it. */
export const extensionAnswer = (extension: StoredExtension): ExtensionRecord => ({
  id: wireId(extension),
  name: wireName(extension) ?? null,
  created_at: createdAt(extension),
  size_bytes: extension.spec.archive.sizeBytes,
  checksum: extension.spec.archive.sha256,
});
