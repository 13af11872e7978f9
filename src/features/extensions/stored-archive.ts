import type { StoredExtension } from "../../core/setups/referents.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import { archiveKey, type Extension } from "./extension.ts";

/** The archive of an extension; undefined while its upload is not over. */
export const storedArchive = (extension: Extension): StoredExtension | undefined => {
  const { metadata, spec } = extension;
  if (!spec.archive) return undefined;
  const { sha256, sizeBytes } = spec.archive;
  return {
    id: metadata.uid,
    name: wireName(extension) ?? metadata.name,
    sha256,
    bytes: sizeBytes,
    key: archiveKey(extension),
  };
};
