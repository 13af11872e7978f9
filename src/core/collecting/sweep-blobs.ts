/** Deletes what was collected of sessions and is kept no longer: once an hour, in one of the replicas. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import type { ClaimedWork } from "./claimed-work.ts";

/** How often one of the replicas looks, ms; and how often each asks whether it is its turn. */
const sweepMs = 3_600_000;
const askMs = 60_000;

/** Longest look, ms. */
const sweepLimitMs = 20 * 60_000;

/** `folder`: of the blob store. `ageMs`: how old a blob of it may become. */
type Swept = { folder: string; ageMs: number };

type SweepDeps = Swept & {
  blobs: BlobStore;
  /** Whether no replica has looked for so long; then it is this one's turn. */
  takeSweep(everyMs: number): Promise<boolean>;
  /** What it is, for the log. */
  what: string;
  log: Logger;
};

/** Returns what asks for a turn, by a key that is set for as long as no replica needs to look. */
export const sweepTurns =
  (redis: RedisConnection, key: string): SweepDeps["takeSweep"] =>
  async (everyMs) =>
    (await orUnavailable(redis.set(key, "1", "PX", everyMs, "NX"))) === "OK";

/** Deletes the blobs that are too old. Returns how many. Rejects when the store does not serve. */
export const sweepBlobs = async (
  { blobs, folder, ageMs }: Swept & { blobs: BlobStore },
  nowMs: number,
  signal: AbortSignal,
): Promise<number> => {
  let deleted = 0;
  for await (const { key, storedMs } of blobs.list(folder, { signal })) {
    if (storedMs >= nowMs - ageMs) continue;
    await blobs.delete(key, { signal });
    deleted += 1;
  }
  return deleted;
};

/** Looks now and then until `signal` is aborted. Never rejects. */
const sweepNowAndThen = async (deps: SweepDeps, signal: AbortSignal): Promise<void> => {
  const { takeSweep, what, log } = deps;
  while (!signal.aborted) {
    try {
      if (await takeSweep(sweepMs)) {
        const deleted = await sweepBlobs(
          deps,
          Date.now(),
          AbortSignal.any([signal, AbortSignal.timeout(sweepLimitMs)]),
        );
        if (deleted > 0) log.info({ deleted }, `old ${what} deleted`);
      }
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, `old ${what} are not deleted`);
    }
    await sleep(askMs * (0.75 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => undefined);
  }
};

/** The work, and the deletion of what it has stored and is too old: both until it is stopped. */
export const sweeping = (work: ClaimedWork, deps: SweepDeps): ClaimedWork => {
  const stopped = new AbortController();
  const swept = sweepNowAndThen(deps, stopped.signal);
  return {
    ...work,
    async stop() {
      stopped.abort();
      await Promise.all([work.stop(), swept]);
    },
  };
};
