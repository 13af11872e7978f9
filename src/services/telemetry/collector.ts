/**
 * The sessions whose events this replica collects: those that it has handed out, and those of replicas that are gone. It looks for those
 * every three seconds, and asks then whether others have taken over what it collects.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { resolveTelemetry } from "../../domain/telemetry-merge.ts";
import type { MemoryUse } from "../../redis/memory-use.ts";
import type { Collected, TelemetryClaims } from "../../redis/telemetry-claims.ts";
import { whileUnavailable } from "../../redis/while-unavailable.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { type CollectDeps, collectSession } from "./collect-session.ts";
import { createSlots } from "./slots.ts";

export type TelemetryCollector = {
  /** Collects the events of a session from now on, and returns at once. */
  collect(collected: Collected): void;
  /** The same if no replica does, such as after a loss of Redis. */
  ensure(collected: Collected): Promise<void>;
  /** Stops reading; other replicas go on where it was. */
  stop(): Promise<void>;
};

export type CollectorDeps = Omit<CollectDeps, "slots" | "isTight"> &
  Pick<ServiceDeps, "projects"> & { claims: TelemetryClaims; memoryUse(): Promise<MemoryUse[]> };

/** Sessions of one replica: each has a connection to an agent. */
const mostSessions = 5000;

/** Batches in memory at once, of a megabyte at most. */
const mostBatches = 64;

/** Time between two looks, ms; a quarter more or less, so that replicas don't look together. */
const lookMs = 3000;

/** Sessions of dead replicas that one look takes, so that others get some too; own ones that one look confirms. */
const takenAtOnce = 50;
const confirmedAtOnce = 200;

/** Telemetry is the first that gives room: from this share of Redis' limit on it keeps less. Ended leases follow at 0.85. */
const tightShare = 0.75;

/** Time that sessions have to stop, ms. */
const stopMs = 2000;

/** Begins to look. */
export const startTelemetryCollector = (deps: CollectorDeps): TelemetryCollector => {
  const { claims, log } = deps;
  const running = new Map<string, { collected: Collected; stop: AbortController; done: Promise<void> }>();
  const slots = createSlots(mostBatches);
  const stopped = new AbortController();
  const adopted = new Set<string>();
  let isTight = false;
  let confirmed = 0;
  const parts: CollectDeps = { ...deps, slots, isTight: () => isTight };

  const run = async (collected: Collected, signal: AbortSignal): Promise<void> => {
    await collectSession(collected, parts, signal);
    await whileUnavailable(() => claims.end(collected.session), { maxPauseMs: 2000, signal });
  };
  /** Of a session that this replica has claimed. */
  const begin = (collected: Collected): void => {
    const { session } = collected;
    if (running.has(session) || stopped.signal.aborted) return;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, stopped.signal]);
    const done = run(collected, signal)
      .catch((err: unknown) => {
        if (!signal.aborted) log.error({ err, session_id: session }, "the events of a session are not collected");
      })
      .finally(() => running.delete(session));
    running.set(session, { collected, stop, done });
  };
  const claim = async (collected: Collected): Promise<void> => {
    const hasRoom = running.size < mostSessions;
    if (hasRoom) begin(collected);
    await whileUnavailable(() => (hasRoom ? claims.claim(collected) : claims.offer(collected)), {
      maxPauseMs: 2000,
      tries: 5,
      signal: stopped.signal,
    });
  };

  const ensure = async (collected: Collected): Promise<void> => {
    if (!running.has(collected.session) && (await claims.claimFree(collected))) begin(collected);
  };
  const confirm = async (): Promise<void> => {
    const all = [...running.values()].map(({ collected }) => collected);
    if (confirmed >= all.length) confirmed = 0;
    const some = all.slice(confirmed, confirmed + confirmedAtOnce);
    confirmed += confirmedAtOnce;
    for (const session of await claims.confirm(some)) running.get(session)?.stop.abort();
  };
  const makeRoom = async (): Promise<void> => {
    const servers = await deps.memoryUse();
    isTight = servers.some(({ usedBytes, limitBytes }) => limitBytes > 0 && usedBytes > tightShare * limitBytes);
    if (isTight) for (const { id } of deps.projects.list()) await deps.events.trimEnded(id, 0);
  };
  /** Browsers made by YAML: no request has handed out their sessions. */
  const adopt = async (): Promise<void> => {
    const all = deps.browsers.list();
    const present = new Set(all.map(({ metadata }) => metadata.uid));
    for (const uid of adopted) if (!present.has(uid)) adopted.delete(uid);
    for (const { metadata, spec, status } of all) {
      if (status?.phase !== "Active" || adopted.has(metadata.uid) || !resolveTelemetry(spec.telemetry)) continue;
      await ensure({ session: metadata.name, poolUid: metadata.uid });
      adopted.add(metadata.uid);
    }
  };
  const look = async (): Promise<void> => {
    const room = Math.min(takenAtOnce, mostSessions - running.size);
    for (const collected of await claims.takeOver(room)) begin(collected);
    await confirm();
    await adopt();
    await makeRoom();
  };
  const lookAgainAndAgain = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await look().catch((err: unknown) => log.debug({ err }, "no look at collected sessions"));
      await sleep(lookMs * (0.75 + Math.random() / 2), undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  };
  const looking = lookAgainAndAgain();

  return {
    collect(collected) {
      claim(collected).catch(() => undefined);
    },
    ensure,
    async stop() {
      stopped.abort();
      const all = Promise.all([looking, ...[...running.values()].map(({ done }) => done)]);
      await Promise.race([all, sleep(stopMs, undefined, { ref: false })]);
      await claims.leave().catch(() => undefined);
    },
  };
};
