/**
 * A recording on its way from the agent's stream into the blob store, with each call on that way failing in turn. A
 * replica that misses a part too often is followed by another one.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Config } from "../../src/core/config/config.ts";
import { AgentStreamBroken } from "../../src/core/leases/agent/agent-stream.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import type { RecordingClient, RecordingPiece } from "../../src/features/recordings/agent-client.ts";
import { collectRecording } from "../../src/features/recordings/collect-recording.ts";
import { openRecording } from "../../src/features/recordings/open-recording.ts";
import { createRecordingStore } from "../../src/features/recordings/recording-store.ts";
import { claimName } from "../../src/features/recordings/recordings.ts";
import type { BlobStore } from "../../src/platform/blobs/blob-store.ts";
import { openFolderStore } from "../../src/platform/blobs/folder-store.ts";
import { recordingRoomKey } from "../../src/platform/redis/keys.ts";
import { type LeaseParts, silent, startLeaseParts } from "../support/lease-parts.ts";
import { agentVideo } from "../support/recording-video.ts";
import { serviceFailures, tryEveryFault } from "./injector.ts";

let lease: LeaseParts;
let folder: string;
let blobs: BlobStore;
/** The agent's file. */
let file: Buffer;
/** What becomes of it when nothing fails. */
let whole: Buffer | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "recordings-"));
  blobs = await openFolderStore(join(folder, "store"));
  lease = await startLeaseParts();
  file = await agentVideo(3);
});
afterAll(async () => {
  await lease?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Recording = { session: string; poolUid: string; id: string; projectId: string };

/** Bytes that are reserved for a recording. */
const mostBytes = 50e6;

/** A session that is being recorded. */
const begin = async (): Promise<Recording> => {
  const [session, poolUid, id, projectId] = [newId(), newId(), newId(), newId()];
  await lease.addBrowser(poolUid);
  const request = JSON.stringify({
    timeout_seconds: 60,
    max_session_seconds: 3600,
    project: projectId,
    pool: { id: "pool", uid: poolUid },
  });
  expect(await lease.store.take(poolUid, { session, channel: "none", request })).toMatchObject({ kind: "granted" });
  const records = createRecordingStore(lease.redis);
  await records.reserve({ id, projectId }, { bytes: mostBytes, ms: 60_000 }, { bytes: mostBytes, count: 1 });
  const startedMs = Date.now();
  await records.put({ id, session, poolUid, projectId, startedMs, goesMs: startedMs + 600_000, mostBytes });
  return { session, poolUid, id, projectId };
};

const pieceBytes = 100_000;

/** The agent's end: the lease ends in the middle of the first stream, and the connection breaks then. */
const agentOf = ({ session, poolUid }: Recording): Pick<RecordingClient, "read" | "stored"> => {
  let isHeld = true;
  const piecesAfter = async function* (after: number): AsyncGenerator<RecordingPiece> {
    for (let at = after; at < file.length; at += pieceBytes) {
      if (isHeld && at > file.length / 2) {
        isHeld = false;
        await lease.store.release(poolUid, session, "releasing", "released");
        throw new AgentStreamBroken("the connection is cut");
      }
      yield { bytes: file.subarray(at, at + pieceBytes) };
    }
    yield { end: "lease_over", frames: 30, dropped: 0 };
  };
  return {
    read: async (_agent, { after }) => ({ kind: "ok", pieces: piecesAfter(after) }),
    stored: async () => ({ kind: "ok" }),
  };
};

/** The agent of the recording that is collected now. */
let agent: Pick<RecordingClient, "read" | "stored">;

/** Parts of a replica whose calls go outside. */
const outside = () => ({
  store: lease.store,
  records: createRecordingStore(lease.redis),
  blobs,
  client: {
    read: (...asked: Parameters<RecordingClient["read"]>) => agent.read(...asked),
    stored: (...asked: Parameters<RecordingClient["stored"]>) => agent.stored(...asked),
  },
});
type Outside = ReturnType<typeof outside>;

/** One replica collects the recording, until it is stored or `signal` fires. */
const collect = ({ session, poolUid, id }: Recording, parts: Outside, signal: AbortSignal): Promise<void> => {
  const none = { list: () => [] };
  const config = { keptRecordings: { seconds: 600, bytesPerProject: mostBytes } } as Config;
  const deps = { ...parts, config, pools: none, browsers: none, log: silent };
  return collectRecording({ session: claimName(session, id), poolUid }, deps as never, signal);
};

// REPLAY-6
test("the video is stored once and whole, and takes the room that it has, whatever fails", async () => {
  const { store, blobs: blobsFail, agents } = serviceFailures;
  const calls = await tryEveryFault<Recording, void, Outside>({
    parts: outside(),
    failures: { store, records: store, blobs: blobsFail, client: agents },
    kinds: ["refused", "lost", "death"],
    readKinds: ["refused"],
    async prepare() {
      const recording = await begin();
      agent = agentOf(recording);
      return recording;
    },
    work: collect,
    async check(recording, ended) {
      // Another replica takes over what one has left.
      if ("error" in ended) await collect(recording, outside(), new AbortController().signal);
      const { session, poolUid, id, projectId } = recording;
      const record = await outside().records.get(poolUid, session, id);
      if (!record) throw new Error("the recording is lost");
      expect(record.finished).toMatchObject({ why: "lease_over" });
      const { bytes, read } = openRecording(record, { blobs });
      const video = await buffer(read({ start: 0, end: bytes }, new AbortController().signal));
      whole ??= video;
      expect(video.equals(whole), "the same video as without faults").toBe(true);
      expect(await lease.redis.hgetall(recordingRoomKey(projectId))).toEqual({ [id]: `${record.goesMs}:${bytes}` });
    },
  });
  expect(calls).toEqual(expect.arrayContaining(["blobs.put", "records.finish", "client.read", "client.stored"]));
}, 180_000);
