import { absentStore } from "./absent-store.ts";
import type { BlobSettings } from "./blob-settings.ts";
import type { BlobStore } from "./blob-store.ts";
import { openFolderStore } from "./folder-store.ts";

/**
 * Opens the store of the settings (`readConfig().blobs`); without settings, one that refuses with `not_supported_here`. Throws when a
 * folder can't be used; S3 is not asked. `close` ends its connections.
 */
export const openBlobStore = async (
  settings: BlobSettings | undefined,
): Promise<{ store: BlobStore; close(): void }> => {
  if (!settings) return { store: absentStore, close: () => undefined };
  if (settings.kind === "folder") return { store: await openFolderStore(settings.path), close: () => undefined };
  // Loaded only where it is used: the client costs each process memory and time to start.
  const { openS3Store } = await import("./s3-store.ts");
  return openS3Store(settings);
};
