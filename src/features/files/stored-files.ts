/**
 * What is known of the files that ended sessions have left, and the room that those of a project take. The files are in
 * the blob store: an index and all bytes. What Redis loses can't be found any more, and its blobs go with their age.
 */
import { z } from "zod";
import { type BlobRoom, createBlobRoom } from "../../core/collecting/blob-room.ts";
import type { ClaimedWork } from "../../core/collecting/claimed-work.ts";
import { sweepTurns } from "../../core/collecting/sweep-blobs.ts";
import type { CollectClaims } from "../../platform/redis/collect-claims.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { filesRoomKey, filesSweepKey, storedFilesKey } from "../../platform/redis/keys.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import type { StoredIndexes } from "./stored-index.ts";

/** Those of one session. `goesMs`: when they are kept no longer, ms since 1970. `lost`: why there are none. */
export const StoredFiles = z.object({
  id: z.string(),
  session: z.string(),
  poolUid: z.string(),
  projectId: z.string(),
  goesMs: z.int(),
  lost: z.string().optional(),
});
export type StoredFiles = z.infer<typeof StoredFiles>;

/** Every method throws `unavailable` when Redis does not answer. */
export type StoredFilesStore = {
  room: BlobRoom;
  /** Keeps what is known until `goesMs`. */
  put(record: StoredFiles): Promise<void>;
  get(poolUid: string, session: string): Promise<StoredFiles | undefined>;
  /** Whether no replica has looked for old files for so long; then it is this one's turn. */
  takeSweep(everyMs: number): Promise<boolean>;
};

/** What use cases need for the files of ended sessions. */
export type KeptFileParts = {
  records: StoredFilesStore;
  claims: Pick<CollectClaims, "isClaimed">;
  collector: ClaimedWork;
  indexes: StoredIndexes;
};

/** Ended sessions of one project of which files are kept, or of which it is known why not. */
export const mostPerProject = 1000;

/** The folder of the blob store in which files of sessions are. */
export const filesFolder = "files";

/** The keys of what a session has left. */
export const blobKeys = (id: string): { index: string; content: string } => ({
  index: `${filesFolder}/${id}/index`,
  content: `${filesFolder}/${id}/content`,
});

/** Undefined for what another version has written. */
const read = (text: string | null): StoredFiles | undefined => {
  if (text === null) return undefined;
  const { data } = StoredFiles.safeParse(JSON.parse(text));
  return data && data.goesMs > Date.now() ? data : undefined;
};

/** Those in this Redis. */
export const createStoredFilesStore = (redis: RedisConnection): StoredFilesStore => ({
  room: createBlobRoom(redis, filesRoomKey),
  async put(record) {
    const ms = Math.max(1, record.goesMs - Date.now());
    await orUnavailable(redis.set(storedFilesKey(record.poolUid, record.session), JSON.stringify(record), "PX", ms));
  },
  get: async (poolUid, session) => read(await orUnavailable(redis.get(storedFilesKey(poolUid, session)))),
  takeSweep: sweepTurns(redis, filesSweepKey),
});
