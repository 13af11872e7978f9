import type { BlobStore, StoredBlob } from "./blob-store.ts";

/** Copies a blob; undefined when there is none. Throws as the store does. */
export const copyBlob = async (
  blobs: BlobStore,
  { from, to }: { from: string; to: string },
  signal: AbortSignal,
): Promise<StoredBlob | undefined> => {
  const blob = await blobs.get(from, { signal });
  return blob && blobs.put(to, blob.body, { signal });
};
