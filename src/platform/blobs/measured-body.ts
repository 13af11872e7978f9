import { createHash } from "node:crypto";
import { awaitWith } from "../base/retry.ts";
import type { StoredBlob } from "./blob-store.ts";

type MeasuredBody = {
  /** The bytes of the source; ends with the signal's reason when the signal is aborted. To be read once. */
  read(): AsyncGenerator<Uint8Array>;
  /** What was read. */
  result(): StoredBlob;
  /** The error of the source itself, if that failed: the caller's, not the store's. */
  sourceError(): { error: unknown } | undefined;
};

/**
 * Counts and digests a body while a store reads it. A source that stands still holds the store no longer than `signal`.
 */
export const measureBody = (source: AsyncIterable<Uint8Array>, signal: AbortSignal): MeasuredBody => {
  const hash = createHash("sha256");
  let bytes = 0;
  let failed: { error: unknown } | undefined;
  return {
    async *read() {
      const iterator = source[Symbol.asyncIterator]();
      let isOver = false;
      try {
        for (;;) {
          const { done, value } = await awaitWith(iterator.next(), signal);
          isOver = done === true;
          if (isOver) return;
          hash.update(value);
          bytes += value.byteLength;
          yield value;
        }
      } catch (error) {
        failed = { error };
        throw error;
      } finally {
        // Not awaited: a source that stands still would answer this only after what it is asked for already.
        if (!isOver) void iterator.return?.().catch(() => undefined);
      }
    },
    result: () => ({ bytes, sha256: hash.digest("hex") }),
    sourceError: () => failed,
  };
};
