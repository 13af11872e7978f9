import { setTimeout as sleep } from "node:timers/promises";
import { awaitWith } from "../base/retry.ts";

/** What stands for a time without an item. */
export const pause = Symbol("pause");

/** Settles as `item` does, or with `pause` after this time. Rejects when `signal` is aborted. */
const orPause = async <T>(item: Promise<T>, afterMs: number, signal: AbortSignal): Promise<T | typeof pause> => {
  const settled = new AbortController();
  const late = sleep(afterMs, pause, { signal: settled.signal });
  late.catch(() => undefined);
  try {
    return await awaitWith(Promise.race([item, late]), signal);
  } finally {
    settled.abort();
  }
};

/**
 * The items of `source`, and a `pause` after each `everyMs` without one, so that a stream can show that it lives.
 * Throws the reason of `signal` when that is aborted, also while the source waits: it then ends by itself.
 */
export const withPauses = async function* <T>(
  source: AsyncIterable<T>,
  everyMs: number,
  signal: AbortSignal,
): AsyncGenerator<T | typeof pause> {
  const items = source[Symbol.asyncIterator]();
  try {
    let next = items.next();
    for (;;) {
      const got = await orPause(next, everyMs, signal);
      if (got === pause) {
        yield pause;
        continue;
      }
      if (got.done) return;
      yield got.value;
      next = items.next();
    }
  } finally {
    // Not waited for: a generator that waits takes it when its wait is over.
    void Promise.resolve(items.return?.()).catch(() => undefined);
  }
};
