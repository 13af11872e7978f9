/**
 * Collects what one session leaves in its folder: from its agent into the blob store, once its lease is over.
 *
 *   look the lease up ──► ask the agent, which answers at the end of the lease ──► room ──► bytes, then the index ──► known
 *        ▲                                        │
 *        └──── pause, longer each time ◄── it broke, or the store is away
 *                                                 │
 *                                                 └─ the lease is over and the agent gone, or the store stays away ──► known as lost
 */
import { setTimeout as sleep } from "node:timers/promises";
import { knownLeaseState, type LeaseStateDeps } from "../../core/collecting/lease-state.ts";
import type { Config } from "../../core/config/config.ts";
import { AgentStreamBroken } from "../../core/leases/agent/agent-stream.ts";
import { type AnyLease, requestOf } from "../../core/leases/records.ts";
import { newId } from "../../core/objects/new-id.ts";
import { AppError } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import { doubling } from "../../platform/base/retry.ts";
import type { Semaphore } from "../../platform/base/semaphore.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Collected } from "../../platform/redis/collect-claims.ts";
import { whileUnavailable } from "../../platform/redis/or-unavailable.ts";
import { mostLeft } from "./agent/api.ts";
import type { LeftClient, LeftPiece } from "./left-client.ts";
import { blobKeys, mostPerProject, type StoredFiles, type StoredFilesStore } from "./stored-files.ts";

/** `transfers`: how many are on their way at once; each has an index and some pieces in memory. */
export type CollectFilesDeps = LeaseStateDeps & {
  blobs: BlobStore;
  config: Pick<Config, "keptFiles">;
  log: Logger;
  records: StoredFilesStore;
  client: Pick<LeftClient, "read" | "stored">;
  transfers: Semaphore;
};

/** Tries after the session's end: to reach its agent, whose pod may be gone, and to store what it has left. */
const lastTries = { browser_gone: 4, store_away: 12 };

const pauseAfter = doubling(200, 5000);

/**
 * `none`: there is nothing to keep, nor to tell. `unknown`: the agent keeps nothing of this session. `again`: with why
 * it is lost if no try helps.
 */
type Outcome = { stored: number } | { lost: string } | { again: keyof typeof lastTries } | "none" | "unknown";

type Sizes = Extract<LeftPiece, { index_bytes: number }>;

/** The next bytes, so many in all. Throws `AgentStreamBroken` when there are others. */
const exactly = async function* (pieces: AsyncIterator<LeftPiece>, bytes: number): AsyncGenerator<Buffer> {
  for (let left = bytes; left > 0; ) {
    const { done, value } = await pieces.next();
    if (done || !("bytes" in value) || value.bytes.length > left)
      throw new AgentStreamBroken("a session's files have another length than was told");
    left -= value.bytes.length;
    yield value.bytes;
  }
};

const one = async function* (bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
};

const store = async (
  pieces: AsyncIterator<LeftPiece>,
  { index_bytes, content_bytes }: Sizes,
  { id, blobs, signal }: { id: string; blobs: BlobStore; signal: AbortSignal },
): Promise<void> => {
  const keys = blobKeys(id);
  const index: Buffer[] = [];
  for await (const part of exactly(pieces, index_bytes)) index.push(part);
  await blobs.put(keys.content, exactly(pieces, content_bytes), { signal });
  // Last: what has an index is whole.
  await blobs.put(keys.index, one(Buffer.concat(index)), { signal });
};

/** `isSeen`: its agent has answered. */
type Collection = { record: StoredFiles; hasRoom: boolean; isSeen: boolean };

const takeRoom = async (
  collection: Collection,
  bytes: number,
  { records, config }: CollectFilesDeps,
): Promise<boolean> => {
  const { seconds, bytesPerProject } = config.keptFiles;
  // A first try may have reserved it.
  collection.hasRoom ||= await records.room.reserve(
    collection.record,
    { bytes, ms: seconds * 1000 },
    { bytes: bytesPerProject, count: mostPerProject },
  );
  return collection.hasRoom;
};

const take = async (
  collection: Collection,
  pieces: AsyncIterator<LeftPiece>,
  deps: CollectFilesDeps,
  signal: AbortSignal,
): Promise<Outcome> => {
  const { done, value: first } = await pieces.next();
  if (done) return { again: "browser_gone" };
  if ("none" in first) return "none";
  if ("lost" in first) return { lost: first.lost };
  if (!("index_bytes" in first) || first.index_bytes > mostLeft.indexBytes || first.content_bytes > mostLeft.bytes)
    return { lost: "damaged" };
  const leave = await deps.transfers.acquire(signal);
  try {
    const bytes = first.index_bytes + first.content_bytes;
    if (!(await takeRoom(collection, bytes, deps))) return { lost: "project_full" };
    await store(pieces, first, { id: collection.record.id, blobs: deps.blobs, signal });
    return { stored: bytes };
  } finally {
    leave();
  }
};

const readAgent = async (
  collection: Collection,
  lease: AnyLease,
  deps: CollectFilesDeps,
  signal: AbortSignal,
): Promise<Outcome> => {
  const over = new AbortController();
  const whole = AbortSignal.any([signal, over.signal]);
  try {
    const opened = await deps.client.read(lease, lease.session, whole);
    if (opened.kind === "refused" && opened.code === "not_found") return "unknown";
    if (opened.kind !== "ok") return { again: "browser_gone" };
    collection.isSeen = true;
    return await take(collection, opened.pieces[Symbol.asyncIterator](), deps, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AgentStreamBroken) return { again: "browser_gone" };
    if (error instanceof AppError && error.code === "unavailable") return { again: "store_away" };
    throw error;
  } finally {
    over.abort();
  }
};

/** An agent gives up what is oldest when it has no room. */
const known = (outcome: Outcome, { isSeen }: Collection): Exclude<Outcome, "unknown"> => {
  if (outcome !== "unknown") return outcome;
  return isSeen ? { lost: "no_room" } : "none";
};

/** What becomes of the session's files, and the lease that had them. */
const readAll = async (
  collection: Collection,
  deps: CollectFilesDeps,
  signal: AbortSignal,
): Promise<{ outcome: Exclude<Outcome, { again: string } | "unknown">; lease: AnyLease | undefined }> => {
  let lease: AnyLease | undefined;
  for (let [failures, last] = [1, 0]; ; failures += 1) {
    const state = await knownLeaseState(collection.record, deps, signal);
    lease = state.lease ?? lease;
    if (!lease) return { outcome: "none", lease };
    collection.record.projectId = requestOf(lease).project;
    const outcome = known(await readAgent(collection, lease, deps, signal), collection);
    if (outcome === "none" || !("again" in outcome)) return { outcome, lease };
    if (state.kind === "over") last += 1;
    if (last >= lastTries[outcome.again]) return { outcome: { lost: outcome.again }, lease };
    await sleep(pauseAfter(failures), undefined, { signal });
  }
};

/** Resolves when the files of a session are stored, or nothing of them can be. Rejects with the reason of `signal`. */
export const collectFiles = async (
  { session, poolUid }: Collected,
  deps: CollectFilesDeps,
  signal: AbortSignal,
): Promise<void> => {
  const { records, config, client, log } = deps;
  const patience = { maxPauseMs: 2000, signal };
  // The setting was on when the session began.
  if (config.keptFiles.seconds === 0) return;
  // Another replica may have been there before.
  if (await whileUnavailable(() => records.get(poolUid, session), patience)) return;
  const collection = {
    record: { id: newId(), session, poolUid, projectId: "", goesMs: 0 },
    hasRoom: false,
    isSeen: false,
  };
  const { outcome, lease } = await readAll(collection, deps, signal);
  const record: StoredFiles = { ...collection.record, goesMs: Date.now() + config.keptFiles.seconds * 1000 };
  if (outcome !== "none") {
    const bytes = "stored" in outcome ? outcome.stored : 0;
    const lost = "lost" in outcome ? outcome.lost : undefined;
    // Also what is known of lost ones has a bound.
    const isKnown = await whileUnavailable(() => takeRoom(collection, 0, deps), patience);
    if (isKnown) {
      await whileUnavailable(() => records.room.settle(record, bytes), patience);
      await whileUnavailable(() => records.put({ ...record, ...(lost !== undefined && { lost }) }), patience);
    }
    log.info({ session_id: session, bytes, ...(lost !== undefined && { why: lost }) }, "files of a session collected");
  }
  if (lease) await client.stored(lease, session);
};
