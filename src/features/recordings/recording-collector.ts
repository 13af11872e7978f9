/** The recordings that this replica collects (collecting/claimed-work.ts), and those that are too old. */
import { type ClaimedWork, startClaimedWork } from "../../core/collecting/claimed-work.ts";
import { sweeping } from "../../core/collecting/sweep-blobs.ts";
import type { CollectClaims } from "../../platform/redis/collect-claims.ts";
import { mostRecordingSeconds } from "./agent/api.ts";
import { type CollectRecordingDeps, collectRecording } from "./collect-recording.ts";
import { recordingFolder } from "./recordings.ts";

/** Recordings of one replica: each has half a megabyte in memory. */
const mostRecordings = 200;

/** A part is older than its recording's end, by the longest recording at most; and an hour for clocks. */
const marginMs = mostRecordingSeconds * 1000 + 3_600_000;

type RecordingCollectorDeps = CollectRecordingDeps & { claims: CollectClaims };

/** Begins to collect, and to delete what is old. */
export const startRecordingCollector = (deps: RecordingCollectorDeps): ClaimedWork => {
  const { blobs, claims, config, records, log } = deps;
  const work = startClaimedWork({
    claims,
    run: (collected, signal) => collectRecording(collected, deps, signal),
    most: mostRecordings,
    what: "recordings",
    log,
  });
  return sweeping(work, {
    folder: recordingFolder,
    ageMs: config.keptRecordings.seconds * 1000 + marginMs,
    takeSweep: records.takeSweep,
    what: "recordings",
    ...{ blobs, log },
  });
};
