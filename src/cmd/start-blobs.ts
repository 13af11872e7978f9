import type { Config } from "../core/config/config.ts";
import { AppError } from "../platform/base/errors.ts";
import type { Logger } from "../platform/base/log.ts";
import type { BlobStore } from "../platform/blobs/blob-store.ts";
import { type BlobMeter, meteredStore } from "../platform/blobs/metered-store.ts";
import { openBlobStore } from "../platform/blobs/open-blob-store.ts";

/** How long a store may take to answer before the log says that it does not, ms. */
const firstAnswerMs = 10_000;

/**
 * Opens the store of blobs, until `stack` is disposed of. Nobody waits for S3: when it does not answer, the log says
 * so, and only requests that need it fail.
 */
export const startBlobs = async (
  { config, meter, log }: { config: Config; meter: BlobMeter; log: Logger },
  stack: AsyncDisposableStack,
): Promise<BlobStore> => {
  const opened = await openBlobStore(config.blobs);
  stack.defer(opened.close);
  if (!config.blobs) return opened.store;
  const store = meteredStore(opened.store, meter);
  void store.check({ signal: AbortSignal.timeout(firstAnswerMs) }).catch((error) => {
    const reason = error instanceof AppError && error.cause instanceof Error ? error.cause.message : String(error);
    log.warn({ reason }, "the store of blobs does not answer; profiles and extensions can't be stored or read");
  });
  return store;
};
