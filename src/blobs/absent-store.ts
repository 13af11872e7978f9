import { AppError } from "../errors.ts";
import type { BlobStore } from "./blob-store.ts";

const refuse = async (): Promise<never> => {
  throw new AppError(
    "not_supported_here",
    "this installation has no store for the contents of profiles and extensions: " +
      "its administrator can set BROWSERPOOL_BLOBS to a folder or a bucket (docs/blobs.md)",
  );
};

/** The store of an installation without one: refuses everything by name. There is nothing to delete, so a delete succeeds. */
export const absentStore: BlobStore = { put: refuse, get: refuse, check: refuse, delete: async () => undefined };
