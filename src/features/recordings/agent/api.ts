/**
 * How an agent records the browser of a lease for its holder. An agent calls nobody, so the API reads the video as it
 * grows:
 *
 *   PUT    /replays/{id}  StartRecording     → 200 RecordingStarted | 409 not_holder | 409 replay_in_progress | 429 | 503 browser_unhealthy
 *   GET    /replays/{id}?session=…&after=N → 200 lines of RecordingLine after that many bytes | 404 when the agent has no such recording
 *   DELETE /replays/{id}?session=…        → 200: no more pictures; the lines end soon | 404
 *   DELETE /replays/{id}?session=…&stored=true → 200: it is stored, and the agent forgets it | 404
 *
 *   recording ──DELETE, a bound, the lease's end──► ended ──stored=true, or 10 minutes──► forgotten
 *
 * The lines carry the video in sealed pieces (sealed-bytes.ts), each for its place in it: who listens on the way learns
 * nothing, and another piece in its place is noticed. PUT and DELETE can be repeated.
 */
import { z } from "zod";
import { Fence, maxSessionId } from "../../../core/protocol/agent-api.ts";

/** Pictures in a second: more need a GPU. */
const mostFramerate = 20;

/** The longest recording, s. */
export const mostRecordingSeconds = 4 * 3600;

/** The largest video, bytes: two of them fit into the disk of a browser's pod. */
export const mostRecordingBytes = 256 * 1024 * 1024;

/** The id of a recording. */
export const RecordingId = z.string().regex(/^[a-z0-9]{8,40}$/);

/** The body of `PUT /replays/{id}`. */
export const StartRecording = Fence.extend({
  session_id: z.string().min(1).max(maxSessionId),
  framerate: z.number().min(1).max(mostFramerate),
  /** The agent ends the recording when it is this old, s. */
  seconds: z.int().min(1).max(mostRecordingSeconds),
  /** The agent ends the recording before the video is larger, bytes. */
  max_bytes: z.int().min(1).max(mostRecordingBytes),
});
export type StartRecording = z.infer<typeof StartRecording>;

const Side = z.int().min(2).max(4096);

/** The size of the video, pixels; pages of other sizes are fitted in. */
export const RecordingStarted = z.object({ width: Side, height: Side });
export type RecordingStarted = z.infer<typeof RecordingStarted>;

/** Why a recording ended. `killed`: its encoder was. */
export const RecordingEnd = z.enum(["stopped", "too_long", "too_large", "lease_over", "killed"]);
export type RecordingEnd = z.infer<typeof RecordingEnd>;

/**
 * A piece of the video, or its end. `frames`: pictures in the video; `dropped`: those for which the encoder was too
 * slow.
 */
export const RecordingLine = z.union([
  z.object({ piece: z.base64() }),
  z.object({ end: RecordingEnd, frames: z.int().min(0), dropped: z.int().min(0) }),
]);
export type RecordingLine = z.infer<typeof RecordingLine>;

/** The query of the calls. */
export const RecordingQuery = z.object({
  session: z.string().min(1).max(maxSessionId),
  after: z
    .string()
    .regex(/^\d{1,12}$/)
    .transform(Number)
    .default(0),
  stored: z.literal("true").optional(),
});

/** What a piece is sealed for, so that it can stand nowhere else. */
export const pieceContext = (session: string, recording: string, offset: number): string =>
  `replay ${session} ${recording} ${offset}`;
export type RecordingQuery = z.infer<typeof RecordingQuery>;
