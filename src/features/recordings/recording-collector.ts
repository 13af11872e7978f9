/** The recordings that this replica collects (collecting/claimed-work.ts), and those that are too old. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ClaimedWork, startClaimedWork } from "../../core/collecting/claimed-work.ts";
import type { CollectClaims } from "../../platform/redis/collect-claims.ts";
import { mostRecordingSeconds } from "./agent/api.ts";
import { type CollectRecordingDeps, collectRecording } from "./collect-recording.ts";
import { recordingFolder } from "./recordings.ts";

/** Recordings of one replica: each has half a megabyte in memory. */
const mostRecordings = 200;

/**
 * How often one of the replicas looks for videos that are too old, ms; and how often each asks whether it is its turn.
 */
const sweepMs = 3_600_000;
const askMs = 60_000;

/** Longest look, ms. */
const sweepLimitMs = 20 * 60_000;

/** A part is older than its recording's end, by the longest recording at most; and an hour for clocks. */
const marginMs = mostRecordingSeconds * 1000 + 3_600_000;

type RecordingCollectorDeps = CollectRecordingDeps & { claims: CollectClaims };

/**
 * Deletes videos that were stored so long ago that none of their recordings is kept. Rejects when the store does not
 * serve.
 */
export const sweepRecordings = async (
  { blobs, config }: Pick<RecordingCollectorDeps, "blobs" | "config">,
  nowMs: number,
  signal: AbortSignal,
): Promise<number> => {
  const oldestMs = nowMs - config.keptRecordings.seconds * 1000 - marginMs;
  let deleted = 0;
  for await (const { key, storedMs } of blobs.list(recordingFolder, { signal })) {
    if (storedMs >= oldestMs) continue;
    await blobs.delete(key, { signal });
    deleted += 1;
  }
  return deleted;
};

const sweepNowAndThen = async (deps: RecordingCollectorDeps, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    try {
      if (await deps.records.takeSweep(sweepMs)) {
        const deleted = await sweepRecordings(
          deps,
          Date.now(),
          AbortSignal.any([signal, AbortSignal.timeout(sweepLimitMs)]),
        );
        if (deleted > 0) deps.log.info({ deleted }, "old recordings deleted");
      }
    } catch (err) {
      if (!signal.aborted) deps.log.warn({ err }, "old recordings are not deleted");
    }
    await sleep(askMs * (0.75 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => undefined);
  }
};

/** Begins to collect, and to delete what is old. */
export const startRecordingCollector = (deps: RecordingCollectorDeps): ClaimedWork => {
  const { claims, log } = deps;
  const work = startClaimedWork({
    claims,
    run: (collected, signal) => collectRecording(collected, deps, signal),
    most: mostRecordings,
    what: "recordings",
    log,
  });
  const stopped = new AbortController();
  const sweeping = sweepNowAndThen(deps, stopped.signal);
  return {
    ...work,
    async stop() {
      stopped.abort();
      await Promise.all([work.stop(), sweeping]);
    },
  };
};
