import type { BlobStore } from "../../../platform/blobs/blob-store.ts";
import type { Trial } from "./site-analysis.ts";

/** Deadline for deleting a screenshot, ms. */
const deleteMs = 10_000;

/** Deletes those of these trials. */
export const deleteScreenshots = async (trials: readonly Trial[], { blobs }: { blobs: BlobStore }): Promise<void> => {
  for (const { screenshot } of trials)
    if (screenshot) await blobs.delete(screenshot, { signal: AbortSignal.timeout(deleteMs) });
};
