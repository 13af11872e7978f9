import type { KeyObject } from "node:crypto";
import type { Answer } from "../../core/http/route.ts";
import { byteRange } from "../../core/http/send-file.ts";
import type { Projects } from "../../core/projects/projects.ts";
import { verifyRecordingToken } from "../../core/protocol/session-token.ts";
import { AppError, unavailable } from "../../platform/base/errors.ts";
import type { BlobRange, BlobStore } from "../../platform/blobs/blob-store.ts";
import type { StoredRecording, StoredVideo } from "./recording-store.ts";
import { headKey, partKey, type RecordingParts } from "./recordings.ts";

// The video of a recording as an answer, or the part of it that the request asks for: players go to any place of it by
// parts.

/** The content type of recordings. */
export const recordingType = "video/webm";

/** `range`: the header. `signal`: of the request. */
export const recordingFile = (
  { bytes, read }: OpenRecording,
  { name, range, signal }: { name: string; range: string | undefined; signal: AbortSignal },
): Required<Pick<Answer, "status" | "file" | "headers">> => {
  const part = byteRange(range, bytes);
  const { start, end } = part ?? { start: 0, end: bytes };
  return {
    status: part ? 206 : 200,
    file: { body: read({ start, end }, signal), bytes: end - start, name, type: recordingType },
    headers: {
      "Accept-Ranges": "bytes",
      "Cache-Control": "no-store",
      ...(part && { "Content-Range": `bytes ${start}-${end - 1}/${bytes}` }),
    },
  };
};

/** A stored video. `read`: the bytes of a range of it; it throws `unavailable` when the store does not have them. */
type OpenRecording = { bytes: number; read(range: BlobRange, signal: AbortSignal): AsyncIterable<Uint8Array> };

type Segment = { key: string; start: number; bytes: number };

const segmentsOf = (id: string, { headBytes, parts }: StoredVideo): Segment[] => {
  const segments: Segment[] = [{ key: headKey(id), start: 0, bytes: headBytes }];
  let start = headBytes;
  for (const [part, bytes] of parts.entries()) {
    segments.push({ key: partKey(id, part), start, bytes });
    start += bytes;
  }
  return segments;
};

/** The video of a recording. Throws `conflict` while it is recorded, and `not_found` when there was no picture. */
export const openRecording = (record: StoredRecording, { blobs }: { blobs: BlobStore }): OpenRecording => {
  if (!record.finished) throw new AppError("conflict", "this is still being recorded; stop the recording first");
  const { video } = record.finished;
  if (!video) throw new AppError("not_found", `there is no picture in the recording ${record.id}`);
  const segments = segmentsOf(record.id, video);
  return {
    bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    async *read(range, signal) {
      for (const { key, start, bytes } of segments) {
        const [from, to] = [Math.max(0, range.start - start), Math.min(bytes, range.end - start)];
        if (from >= to) continue;
        const blob = await blobs.get(key, { signal, range: { start: from, end: to } });
        if (!blob) throw unavailable("the video of this recording");
        yield* blob.body;
      }
    },
  };
};

/** The recording that a token opens. Throws `unauthorized`, and `not_found` when it is kept no longer. */
export const recordingByToken = async (
  { sessionId, recordingId, token }: { sessionId: string; recordingId: string; token: string },
  { verifyKey, recordings, projects }: { projects: Projects; recordings: RecordingParts; verifyKey: KeyObject },
): Promise<StoredRecording> => {
  const claims = await verifyRecordingToken(verifyKey, token);
  if (claims?.sessionId !== sessionId || claims.recordingId !== recordingId)
    throw new AppError("unauthorized", "the jwt of this URL is missing or not valid");
  const record = await recordings.records.get(claims.poolUid, sessionId, recordingId);
  if (!record || projects.find(record.projectId)?.id !== record.projectId)
    throw new AppError("not_found", "this recording is kept no longer");
  return record;
};
