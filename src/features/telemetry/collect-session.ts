/**
 * Collects the events of one session: from its agent into Redis, until the session has ended.
 *
 *   look the lease up ──► read the agent's stream after the last event that is kept ──┐
 *        ▲                                                                           │
 *        └──────────── pause, longer each time ◄── it broke, ended, or was refused ───┘
 *                                                      │
 *                                                      └─ the lease was over when it was opened, and the stream has ended, or
 *                                                         the agent is gone ──► note the end, export the rest
 *
 * What waits here is one batch at most, and one event when there are many sessions: an agent whose stream is not read
 * keeps its events itself, and says which it had to drop.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { leaseState } from "../../core/collecting/lease-state.ts";
import type { Config } from "../../core/config/config.ts";
import { AgentStreamBroken, type AgentStreams } from "../../core/leases/agent/agent-stream.ts";
import type { LeaseStore } from "../../core/leases/lease-store.ts";
import { type AnyLease, requestOf } from "../../core/leases/records.ts";
import type { Browser } from "../../core/model/browsers/browser.ts";
import type { BrowserPool } from "../../core/model/pools/browser-pool.ts";
import type { Telemetry } from "../../core/model/settings/telemetry.ts";
import type { WatchedObjects } from "../../core/objects/watched-objects.ts";
import { telemetryPath } from "../../core/protocol/telemetry-api.ts";
import { sessionTelemetry } from "../../core/sessions/session-answer.ts";
import type { Logger } from "../../platform/base/log.ts";
import { doubling } from "../../platform/base/retry.ts";
import type { Semaphore } from "../../platform/base/semaphore.ts";
import type { Collected } from "../../platform/redis/collect-claims.ts";
import { whileUnavailable } from "../../platform/redis/or-unavailable.ts";
import { inBatches } from "./batches.ts";
import type { Exporting, Exports } from "./exports.ts";
import { TelemetryRecord } from "./telemetry-event.ts";
import type { KeptEvent, TelemetryBounds, TelemetryStore } from "./telemetry-store.ts";

/** `batches`: batches of all sessions that are in memory at once. `isTight`: Redis has little room left. */
export type CollectDeps = {
  browsers: WatchedObjects<Browser>;
  config: Config;
  log: Logger;
  pools: WatchedObjects<BrowserPool>;
  store: LeaseStore;
} & {
  events: TelemetryStore;
  streams: Pick<AgentStreams, "open">;
  batches: Semaphore;
  exports: Exports;
  isTight(): boolean;
};

const batchBounds = { items: 100, bytes: 1024 * 1024, lingerMs: 50 };

/** What a session keeps without `storage.enabled`: as much as a reader needs to go on after its connection broke. */
const shortBounds: TelemetryBounds = { bytes: 1024 * 1024, seconds: 3600 };
const keptAfterEndSeconds = 300;

/** Most bytes of a session while Redis has little room left. */
const tightBytes = 256 * 1024;

const pauseAfter = doubling(200, 5000);

/** Tries to reach the agent of a session that has ended: its pod may be gone. */
const lastTries = 3;

/** How long the settings of a session are good, ms: a PATCH may have changed them. */
const settingsMs = 10_000;

/** A session while it is collected. `last`: the number of its last event that is kept. */
type Collection = Collected & {
  lease: AnyLease | undefined;
  settings: Telemetry | undefined;
  lookedAtMs: number;
  last: number;
  exporting: Exporting;
};

/** Learns how the session stands. Returns whether it is over; waits while that is unknown. */
const lookUp = async (collection: Collection, deps: CollectDeps, signal: AbortSignal): Promise<boolean> => {
  const patience = { maxPauseMs: 2000, signal };
  for (;;) {
    const state = await whileUnavailable(() => leaseState(collection, deps), patience);
    if (state.kind === "unknown") {
      await sleep(1000, undefined, { signal });
      continue;
    }
    const isOver = state.kind === "over";
    const { lease } = state;
    // What is kept of an ended lease may lack its settings.
    if (lease && (!isOver || !collection.lease)) {
      collection.settings = await whileUnavailable(() => sessionTelemetry(lease, deps), patience);
      collection.lease = lease;
      await collection.exporting.follow(lease, collection.settings);
    }
    collection.lookedAtMs = performance.now();
    return isOver;
  }
};

const boundsOf = ({ settings }: Collection, { config, isTight }: CollectDeps): TelemetryBounds => {
  const { bytes, seconds } = settings?.storage?.enabled ? config.keptTelemetry.session : shortBounds;
  return { bytes: isTight() ? Math.min(bytes, tightBytes) : bytes, seconds };
};

const keep = async (
  collection: Collection,
  batch: readonly KeptEvent[],
  deps: CollectDeps,
  signal: AbortSignal,
): Promise<void> => {
  const { session } = collection;
  if (performance.now() - collection.lookedAtMs > settingsMs) await lookUp(collection, deps, signal);
  await whileUnavailable(() => deps.events.append(session, batch, boundsOf(collection, deps)), {
    maxPauseMs: 2000,
    signal,
  });
  collection.last = batch.at(-1)?.seq ?? collection.last;
  collection.exporting.wake();
};

/**
 * The events in the lines of an agent. What is no event is left out: an agent of another version may have other types.
 */
const eventsIn = async function* (lines: AsyncIterable<unknown>): AsyncGenerator<KeptEvent> {
  for await (const line of lines) {
    const { data } = TelemetryRecord.safeParse(line);
    if (data) yield { seq: data.seq, ts: data.event.ts, event: JSON.stringify(data.event) };
  }
};

const read = async (
  collection: Collection,
  lines: AsyncIterable<unknown>,
  deps: CollectDeps,
  signal: AbortSignal,
): Promise<void> => {
  let leave = (): void => undefined;
  const enter = async (): Promise<void> => {
    leave = await deps.batches.acquire(signal);
  };
  const sizeOf = ({ event }: KeptEvent): number => event.length;
  try {
    for await (const batch of inBatches(eventsIn(lines), { sizeOf, enter, bounds: batchBounds, signal })) {
      await keep(collection, batch, deps, signal);
      leave();
    }
  } finally {
    leave();
  }
};

/** Reads the agent's stream to its end. `refused`: the agent has nothing of this session. */
const readAgent = async (
  collection: Collection,
  lease: AnyLease,
  deps: CollectDeps,
  signal: AbortSignal,
): Promise<"ended" | "broken" | "refused"> => {
  const { session } = collection;
  const { last } = await whileUnavailable(() => deps.events.read(session, { order: "desc", count: 0 }), {
    maxPauseMs: 2000,
    signal,
  });
  collection.last = Math.max(collection.last, last);
  const over = new AbortController();
  const path = telemetryPath({ session, after: collection.last });
  const whole = AbortSignal.any([signal, over.signal]);
  try {
    const opened = await deps.streams.open(lease, path, whole);
    if (opened.kind !== "ok") return opened.kind === "refused" ? "refused" : "broken";
    await read(collection, opened.lines, deps, signal);
    return "ended";
  } catch (error) {
    if (error instanceof AgentStreamBroken) return "broken";
    throw error;
  } finally {
    over.abort();
  }
};

const noteEnd = async (
  { session, lease, settings }: Collection,
  { events, config }: CollectDeps,
  signal: AbortSignal,
): Promise<void> => {
  if (!lease) return;
  const { project: projectId } = requestOf(lease);
  const kept = {
    projectId,
    seconds: settings?.storage?.enabled ? config.keptTelemetry.session.seconds : keptAfterEndSeconds,
    mostBytes: config.keptTelemetry.endedBytesPerProject,
  };
  await whileUnavailable(() => events.end(session, kept), { maxPauseMs: 2000, signal });
};

/** Resolves when the session has ended, and its events are kept and exported. Rejects with the reason of `signal`. */
export const collectSession = async (collected: Collected, deps: CollectDeps, signal: AbortSignal): Promise<void> => {
  const exporting = deps.exports.of(collected.session, signal);
  const none = { lease: undefined, settings: undefined };
  const collection: Collection = { ...collected, ...none, lookedAtMs: 0, last: 0, exporting };
  for (let failures = 0; ; ) {
    const isOver = await lookUp(collection, deps, signal);
    if (!collection.lease) return;
    const before = collection.last;
    const outcome = await readAgent(collection, collection.lease, deps, signal);
    failures = collection.last > before ? 1 : failures + 1;
    if (isOver && (outcome !== "broken" || failures >= lastTries)) break;
    await sleep(pauseAfter(failures), undefined, { signal });
  }
  await noteEnd(collection, deps, signal);
  // Readers know of the end by now; what is kept is exported for as long as it is there without storage.
  await exporting.finish(keptAfterEndSeconds * 1000);
};
