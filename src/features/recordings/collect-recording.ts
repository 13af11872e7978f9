/**
 * Collects one recording: from its agent into the blob store, until it has ended.
 *
 *   look the lease up ──► read the agent's video after the last byte that came ──► its end ──► finish
 *        ▲                                        │
 *        └──── pause, longer each time ◄── it broke, or the agent does not have it yet
 *                                                 │
 *                                                 └─ the lease is over and the agent gone ──► finish with what there is
 */

import { setTimeout as sleep } from "node:timers/promises";
import { knownLeaseState } from "../../core/collecting/lease-state.ts";
import type { Config } from "../../core/config/config.ts";
import { AgentStreamBroken } from "../../core/leases/agent/agent-stream.ts";
import type { LeaseStore } from "../../core/leases/lease-store.ts";
import type { AnyLease } from "../../core/leases/records.ts";
import type { Browser } from "../../core/model/browsers/browser.ts";
import type { BrowserPool } from "../../core/model/pools/browser-pool.ts";
import type { WatchedObjects } from "../../core/objects/watched-objects.ts";
import type { Logger } from "../../platform/base/log.ts";
import { doubling } from "../../platform/base/retry.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Collected } from "../../platform/redis/collect-claims.ts";
import { whileUnavailable } from "../../platform/redis/or-unavailable.ts";
import type { RecordingClient } from "./agent-client.ts";
import type { RecordingStore, StoredRecording } from "./recording-store.ts";
import { namedIn } from "./recordings.ts";
import { createVideoParts, type VideoParts } from "./video-parts.ts";
import { NotWebm } from "./webm/ebml.ts";

export type CollectRecordingDeps = {
  blobs: BlobStore;
  browsers: WatchedObjects<Browser>;
  config: Config;
  log: Logger;
  pools: WatchedObjects<BrowserPool>;
  store: LeaseStore;
} & {
  records: RecordingStore;
  client: Pick<RecordingClient, "read" | "stored">;
};

/** An agent begins a recording within this time, ms; until then it does not know it. */
const beginMs = 20_000;

/** Tries to reach the agent of a session that has ended: its pod may be gone. */
const lastTries = 3;

const pauseAfter = doubling(200, 5000);

/** What came of reading: why the recording has ended, or what to do next. */
type Outcome = { end: string } | "broken" | "refused";

const readAgent = async (
  record: StoredRecording,
  { lease, parts }: { lease: AnyLease; parts: VideoParts },
  { client }: CollectRecordingDeps,
  signal: AbortSignal,
): Promise<Outcome> => {
  const over = new AbortController();
  const whole = AbortSignal.any([signal, over.signal]);
  try {
    const name = { session: record.session, id: record.id, after: parts.received() };
    const opened = await client.read(lease, name, whole);
    if (opened.kind !== "ok") return opened.kind === "refused" ? "refused" : "broken";
    for await (const piece of opened.pieces) {
      if ("end" in piece) return { end: piece.end };
      await parts.add(piece.bytes);
    }
    return "broken";
  } catch (error) {
    if (error instanceof AgentStreamBroken) return "broken";
    if (error instanceof NotWebm) return { end: "damaged" };
    throw error;
  } finally {
    over.abort();
  }
};

/** Reads until the recording has ended, or can't be read any more. */
const readAll = async (
  record: StoredRecording,
  parts: VideoParts,
  deps: CollectRecordingDeps,
  signal: AbortSignal,
): Promise<{ why: string; lease: AnyLease | undefined }> => {
  let lease: AnyLease | undefined;
  for (let failures = 0; ; ) {
    const state = await knownLeaseState(record, deps, signal);
    lease = state.lease ?? lease;
    if (!lease) return { why: "lost", lease };
    const before = parts.received();
    const outcome = await readAgent(record, { lease, parts }, deps, signal);
    if (typeof outcome === "object") return { why: outcome.end, lease };
    const isKnown = outcome === "broken" || Date.now() < record.startedMs + beginMs;
    failures = parts.received() > before ? 1 : failures + 1;
    if (!isKnown || (state.kind === "over" && failures >= lastTries)) return { why: "lost", lease };
    await sleep(pauseAfter(failures), undefined, { signal });
  }
};

/** Resolves when the recording is stored, as far as there is any. Rejects with the reason of `signal`. */
export const collectRecording = async (
  { session: claim, poolUid }: Collected,
  deps: CollectRecordingDeps,
  signal: AbortSignal,
): Promise<void> => {
  const { session, id } = namedIn(claim);
  const { records, config, client, log } = deps;
  const patience = { maxPauseMs: 2000, signal };
  const find = () => whileUnavailable(() => records.get(poolUid, session, id), patience);
  const record = await find();
  if (!record || record.finished) return;
  const parts = createVideoParts({ id, mostBytes: record.mostBytes, blobs: deps.blobs }, signal);
  await parts.restore();
  const { why, lease } = await readAll(record, parts, deps, signal);
  // A start that failed has taken it back.
  if (!(await find())) return;
  const video = await parts.finish();
  const atMs = Date.now();
  const finished = { ...record, goesMs: atMs + config.keptRecordings.seconds * 1000, finished: { atMs, why, video } };
  const bytes = video ? video.parts.reduce((sum, part) => sum + part, video.headBytes) : 0;
  await whileUnavailable(() => records.finish(finished, bytes), patience);
  log.info({ session_id: session, replay_id: id, why, bytes }, "recording stored");
  // It forgets the video by itself after a while.
  if (lease) await client.stored(lease, { session, id });
};
