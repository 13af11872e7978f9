import { setTimeout as sleep } from "node:timers/promises";
import { awaitWith } from "../../platform/base/retry.ts";

/** Bounds of a batch: items, and bytes, which the last item may go beyond. */
type BatchBounds = { items: number; bytes: number; lingerMs: number };

const late = Symbol("late");

/**
 * Puts items together that come within `lingerMs` of the first one. It waits for no time while nothing comes, and reads
 * ahead by one item. `enter`: called with the first item of a batch; the batch goes on when it resolves. Throws what
 * the source throws, after what came before.
 */
export const inBatches = async function* <T>(
  source: AsyncIterable<T>,
  {
    sizeOf,
    enter,
    bounds,
    signal,
  }: { sizeOf(item: T): number; enter(): Promise<void>; bounds: BatchBounds; signal: AbortSignal },
): AsyncGenerator<T[]> {
  const items = source[Symbol.asyncIterator]();
  let next = items.next();
  const fill = async (batch: T[], bytesOfFirst: number): Promise<void> => {
    const linger = new AbortController();
    const time = sleep(bounds.lingerMs, late, { signal: linger.signal }).catch(() => late);
    try {
      for (let bytes = bytesOfFirst; batch.length < bounds.items && bytes < bounds.bytes; ) {
        const got = await awaitWith(Promise.race([next, time]), signal);
        if (typeof got === "symbol" || got.done) return;
        batch.push(got.value);
        bytes += sizeOf(got.value);
        next = items.next();
        next.catch(() => undefined);
      }
    } finally {
      linger.abort();
    }
  };
  try {
    for (;;) {
      const first = await awaitWith(next, signal);
      if (first.done) return;
      next = items.next();
      next.catch(() => undefined);
      const batch = [first.value];
      await enter();
      let failure: { error: unknown } | undefined;
      await fill(batch, sizeOf(first.value)).catch((error: unknown) => {
        failure = { error };
      });
      yield batch;
      if (failure) throw failure.error;
    }
  } finally {
    // Not waited for: a generator that waits takes it when its wait is over.
    void Promise.resolve(items.return?.()).catch(() => undefined);
  }
};
