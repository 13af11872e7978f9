/** What goes into one request, and what is missing before it; pure. */
import type { TelemetryRecord } from "../telemetry-event.ts";

/** Most events of a request, and about most bytes of it before compression: receivers bound both. */
export const maxBatchRecords = 64;
const maxBatchBytes = 1024 * 1024;

/** The first of these records that fit into one request; at least one. */
export const batchOf = (records: readonly TelemetryRecord[]): TelemetryRecord[] => {
  let bytes = 0;
  const end = records.findIndex((record, index) => {
    bytes += Buffer.byteLength(JSON.stringify(record));
    return index === maxBatchRecords || (index > 0 && bytes > maxBatchBytes);
  });
  return records.slice(0, end < 0 ? records.length : end);
};

/** How many numbers between `afterSeq` and the end of the batch it does not have: their events are lost. */
export const lostBefore = (afterSeq: number, batch: readonly TelemetryRecord[]): number =>
  (batch.at(-1)?.seq ?? afterSeq) - afterSeq - batch.length;
