import { AppError } from "../base/errors.ts";
import type { BlobStore } from "./blob-store.ts";
import { openFolderStore } from "./folder-store.ts";

/** A bucket of S3, or of a server that speaks its protocol. */
export type S3BlobSettings = {
  kind: "s3";
  bucket: string;
  /** Empty, or with a slash at its end. */
  prefix: string;
  /** Undefined: AWS. */
  endpoint: string | undefined;
  region: string;
  pathStyle: boolean;
};

/** The store of blobs. `path` is absolute. */
export type BlobSettings = { kind: "folder"; path: string } | S3BlobSettings;

const refuse = async (): Promise<never> => {
  throw new AppError(
    "not_supported_here",
    "this installation has no store for the contents of profiles, extensions and recordings: " +
      "its administrator can set BROWSERPOOL_BLOBS to a folder or a bucket (docs/blobs.md)",
  );
};

const nothing = async function* (): AsyncGenerator<never> {};

/**
 * The store of an installation without one: refuses everything by name. There is nothing to list or delete, so that
 * succeeds.
 */
export const absentStore: BlobStore = {
  put: refuse,
  get: refuse,
  check: refuse,
  delete: async () => undefined,
  list: nothing,
};

/**
 * Opens the store of the settings (`readConfig().blobs`); without settings, one that refuses with `not_supported_here`.
 * Throws when a folder can't be used; S3 is not asked. `close` ends its connections.
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
