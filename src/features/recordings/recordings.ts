import type { ClaimedWork } from "../../core/collecting/claimed-work.ts";
import { mostRecordingBytes } from "./agent/api.ts";
import type { RecordingClient } from "./agent-client.ts";
import type { RecordingStore } from "./recording-store.ts";

/** What use cases need for recordings of sessions. */
export type RecordingParts = { records: RecordingStore; client: RecordingClient; collector: ClaimedWork };

/** Recordings that are kept of one session. */
export const mostPerSession = 20;

/** Recordings that are kept of one project. */
export const mostPerProject = 1000;

/** A moving page fills this much in a second, bytes; the rest is room for the first pictures. */
const bytesPerSecond = 192 * 1024;
const leastBytes = 8 * 1024 * 1024;

/** The most that a recording of so many seconds may become, bytes. */
export const mostBytesOf = (seconds: number): number =>
  Math.min(mostRecordingBytes, leastBytes + seconds * bytesPerSecond);

/** The folder of the blob store in which recordings are. */
export const recordingFolder = "replays";

/** The key of what stands before the parts of a recording. */
export const headKey = (id: string): string => `${recordingFolder}/${id}/head`;

/** The key of a part of a recording. */
export const partKey = (id: string, part: number): string => `${recordingFolder}/${id}/${part}`;

/** The name of a recording among what replicas collect. */
export const claimName = (session: string, id: string): string => `${session}/${id}`;

/** The inverse of `claimName`. */
export const namedIn = (claim: string): { session: string; id: string } => {
  const at = claim.lastIndexOf("/");
  return { session: claim.slice(0, at), id: claim.slice(at + 1) };
};
