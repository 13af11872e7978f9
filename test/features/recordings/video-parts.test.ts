/** Videos in the store: in parts, by one replica after the other, and until they are too old. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sweepBlobs } from "../../../src/core/collecting/sweep-blobs.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { openRecording } from "../../../src/features/recordings/open-recording.ts";
import type { StoredVideo } from "../../../src/features/recordings/recording-store.ts";
import { recordingFolder } from "../../../src/features/recordings/recordings.ts";
import { createVideoParts, type VideoParts } from "../../../src/features/recordings/video-parts.ts";
import { NotWebm } from "../../../src/features/recordings/webm/ebml.ts";
import type { BlobStore } from "../../../src/platform/blobs/blob-store.ts";
import { openFolderStore } from "../../../src/platform/blobs/folder-store.ts";
import { agentVideo, countFrames } from "../../support/recording-video.ts";

let folder: string;
let blobs: BlobStore;
/** As the agent writes it: 6 s, some megabytes. */
let file: Buffer;
const frames = 60;
const { signal } = new AbortController();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "video-parts-"));
  blobs = await openFolderStore(join(folder, "store"));
  file = await agentVideo(6);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const partsOf = (id: string, mostBytes = 50e6): VideoParts => createVideoParts({ id, mostBytes, blobs }, signal);

const add = async (parts: VideoParts, bytes: Buffer): Promise<void> => {
  for (let at = 0; at < bytes.length; at += 50_000) await parts.add(bytes.subarray(at, at + 50_000));
};
const record = (id: string, video: StoredVideo | undefined) => {
  const common = { id, session: "s", poolUid: "p", projectId: "o", startedMs: 0, goesMs: 1, mostBytes: 1 };
  return { ...common, finished: { atMs: 1, why: "stopped", video } };
};
const readAll = async (id: string, video: StoredVideo | undefined, from = 0, to?: number): Promise<Buffer> => {
  const opened = openRecording(record(id, video), { blobs });
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened.read({ start: from, end: to ?? opened.bytes }, signal)) chunks.push(chunk);
  return Buffer.concat(chunks);
};
const framesOf = async (video: Buffer): Promise<number> => {
  const path = join(folder, "video.webm");
  await writeFile(path, video);
  return countFrames(path);
};

// REPLAY-6
test("a replica goes on where another one died, and the video is the same", async () => {
  const [whole, shared] = [newId(), newId()];
  const one = partsOf(whole);
  await add(one, file);
  const video = await one.finish();
  const expected = await readAll(whole, video);
  expect(video?.parts.length).toBeGreaterThan(2);
  expect(await framesOf(expected)).toBe(frames);

  await add(partsOf(shared), file.subarray(0, Math.floor(file.length * 0.6)));
  const other = partsOf(shared);
  await other.restore();
  await add(other, file);
  expect((await readAll(shared, await other.finish())).equals(expected)).toBe(true);
  // The agent is gone, too.
  const last = partsOf(shared);
  await last.restore();
  expect(await framesOf(await readAll(shared, await last.finish()))).toBeGreaterThan(frames / 3);
});

// REPLAY-2, REPLAY-6
test("a video that breaks off is played to there, and any part of it can be read", async () => {
  const id = newId();
  const parts = partsOf(id);
  await add(parts, file.subarray(0, file.length - 1000));
  const video = await parts.finish();
  const all = await readAll(id, video);
  expect(await framesOf(all)).toBeGreaterThan(frames / 2);
  for (const [from, to] of [
    [0, 10],
    [100, 900_000],
    [all.length - 5, all.length],
  ] as const)
    expect((await readAll(id, video, from, to)).equals(all.subarray(from, to))).toBe(true);
});

// REPLAY-8
test("what is no video, or too large, is refused, and what was good stays", async () => {
  const id = newId();
  const parts = partsOf(id, 1e6);
  await expect(add(parts, file)).rejects.toThrow(NotWebm);
  const kept = await readAll(id, await parts.finish());
  expect(kept.length).toBeLessThan(1.1e6);
  expect(await framesOf(kept)).toBeGreaterThan(3);
  const none = partsOf(newId());
  await expect(add(none, Buffer.alloc(1000, 7))).rejects.toThrow(NotWebm);
  expect(await none.finish()).toBeUndefined();
});

// REPLAY-7
test("videos go when none of their recordings can be kept any more, and nothing else of the store does", async () => {
  const id = newId();
  const parts = partsOf(id);
  await add(parts, file);
  const video = await parts.finish();
  const body = async function* () {
    yield Buffer.from("archive");
  };
  await blobs.put("profiles/a/1", body(), { signal });
  const dayMs = 86_400_000;
  const old = { blobs, folder: recordingFolder, ageMs: dayMs / 2 };
  expect(await sweepBlobs(old, Date.now(), signal)).toBe(0);
  await expect(readAll(id, video)).resolves.toBeInstanceOf(Buffer);
  expect(await sweepBlobs(old, Date.now() + dayMs, signal)).toBeGreaterThan(3);
  await expect(readAll(id, video)).rejects.toMatchObject({ code: "unavailable" });
  expect(await blobs.get("profiles/a/1", { signal })).toBeDefined();
});
