import { AppError } from "../base/errors.ts";
import type { BlobStore } from "./blob-store.ts";

const refuse = async (): Promise<never> => {
  throw new AppError(
    "not_supported_here",
    "this installation has no store for the contents of profiles, extensions and recordings: " +
      "its administrator can set BROWSERPOOL_BLOBS to a folder or a bucket (docs/blobs.md)",
  );
};

const nothing = async function* (): AsyncGenerator<never> {};

/** The store of an installation without one: refuses everything by name. There is nothing to list or delete, so that succeeds. */
export const absentStore: BlobStore = {
  put: refuse,
  get: refuse,
  check: refuse,
  delete: async () => undefined,
  list: nothing,
};
