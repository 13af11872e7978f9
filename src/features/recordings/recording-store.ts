/**
 * What is known of recordings, by their sessions, and the room that a project's recordings take. The videos are in the
 * blob store (session-recordings.ts). What Redis loses can't be found any more, and its video goes with its age.
 */
import { z } from "zod";
import { createBlobRoom, setKept } from "../../core/collecting/blob-room.ts";
import { sweepTurns } from "../../core/collecting/sweep-blobs.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { recordingRoomKey, recordingSweepKey, recordingsKey } from "../../platform/redis/keys.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";

/** A video in the blob store: the bytes of what stands before its parts, and of each part. */
export const StoredVideo = z.object({ headBytes: z.int(), parts: z.array(z.int()) });
export type StoredVideo = z.infer<typeof StoredVideo>;

/** One recording. `goesMs`: when it is kept no longer. Times in ms since 1970. */
export const StoredRecording = z.object({
  id: z.string(),
  session: z.string(),
  poolUid: z.string(),
  projectId: z.string(),
  startedMs: z.int(),
  goesMs: z.int(),
  /** Bytes of the video at most. */
  mostBytes: z.int(),
  /** Left out while it is recorded, or not stored yet. */
  finished: z.object({ atMs: z.int(), why: z.string(), video: StoredVideo.optional() }).optional(),
});
export type StoredRecording = z.infer<typeof StoredRecording>;

/** Most bytes and recordings of a project. */
type RecordingRoom = { bytes: number; count: number };

/** Every method throws `unavailable` when Redis does not answer. */
export type RecordingStore = {
  /** Reserves so many bytes for a recording that is kept so long at most. False when its project has no room. */
  reserve(
    record: Pick<StoredRecording, "id" | "projectId">,
    wanted: { bytes: number; ms: number },
    most: RecordingRoom,
  ): Promise<boolean>;
  /** Gives the room of a recording back that is not made. */
  release(record: Pick<StoredRecording, "id" | "projectId">): Promise<void>;
  /** Keeps what is known of a recording until `goesMs`. */
  put(record: StoredRecording): Promise<void>;
  /** Keeps it, with the room that its video really takes. */
  finish(record: StoredRecording, bytes: number): Promise<void>;
  /** Forgets it. */
  drop(record: StoredRecording): Promise<void>;
  /** Those of a session that are kept, in the order of their begin. */
  list(poolUid: string, session: string): Promise<StoredRecording[]>;
  get(poolUid: string, session: string, id: string): Promise<StoredRecording | undefined>;
  /** Whether no replica has looked for old videos for so long; then it is this one's turn. */
  takeSweep(everyMs: number): Promise<boolean>;
};

/** Undefined for what another version has written. */
const read = (text: string | null): StoredRecording | undefined => {
  if (text === null) return undefined;
  const { data } = StoredRecording.safeParse(JSON.parse(text));
  return data && data.goesMs > Date.now() ? data : undefined;
};

/** Recordings in this Redis. */
export const createRecordingStore = (redis: RedisConnection): RecordingStore => {
  const room = createBlobRoom(redis, recordingRoomKey);
  const put = (record: StoredRecording): Promise<void> =>
    setKept(redis, recordingsKey(record.poolUid, record.session), record, JSON.stringify(record));
  return {
    reserve: room.reserve,
    release: room.release,
    put,
    async finish(record, bytes) {
      await put(record);
      await room.settle(record, bytes);
    },
    async drop(record) {
      await orUnavailable(redis.hdel(recordingsKey(record.poolUid, record.session), record.id));
      await room.release(record);
    },
    async list(poolUid, session) {
      const texts = await orUnavailable(redis.hvals(recordingsKey(poolUid, session)));
      return texts.flatMap((text) => read(text) ?? []).toSorted((a, b) => a.startedMs - b.startedMs);
    },
    get: async (poolUid, session, id) => read(await orUnavailable(redis.hget(recordingsKey(poolUid, session), id))),
    takeSweep: sweepTurns(redis, recordingSweepKey),
  };
};
