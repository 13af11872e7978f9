/**
 * Wakes the callers that wait at this API replica.
 *
 *   next() ──► message on the pool's channel ──► resolves with `granted` or `draining`
 *          └─► a message may be lost ──► resolves with `recheck`: the caller takes again
 *
 * A message is lost when the subscription breaks or hangs, when Redis loses its data, or when a script drops the
 * waiters of this replica because it is not subscribed. So callers take again when a subscription was renewed, when the
 * operator says that Redis lost data, and when a check finds that they are not in the queue (any more). The check
 * covers all callers that wait here, every ten seconds, with one script a pool.
 *
 * Twice a second the replica beats in each pool that has callers here: scripts give nothing to the callers of a replica
 * that has been silent for 2 s (scripts/includes/beats.lua). A beat after such a silence is followed by a check.
 */
import { z } from "zod";
import type { Logger } from "../../platform/base/log.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { type LeaseStore, parseLease } from "./lease-store.ts";
import { openPoolChannels } from "./pool-channels.ts";
import { grantsChannel } from "./pool-keys.ts";
import type { LeaseRecord } from "./records.ts";

export type Wake = { kind: "granted"; lease: LeaseRecord } | { kind: "draining" } | { kind: "recheck" };

export type Listener = { next(signal: AbortSignal): Promise<Wake>; stop(): void };

export type Grants = {
  /** The channel that this replica's callers give to the take script. */
  channel(poolUid: string): string;
  /**
   * Call it before a caller's first take. Resolves when the pool's messages reach this replica; throws `unavailable`.
   */
  follow(poolUid: string): Promise<void>;
  /** Begins to listen for a session. Call it before the script that may grant. */
  listen(poolUid: string, session: string): Listener;
  /** Number of callers that wait here. */
  size(): number;
  close(): Promise<void>;
};

export type GrantsOptions = {
  /** A connection that nothing else uses. `close` ends it. */
  subscriber: RedisConnection;
  store: LeaseStore;
  /** New for every process. */
  replicaId: string;
  log: Logger;
  /** Time between two checks of the waiting callers, ms. */
  checkMs?: number;
  /** Time between two beats, ms. */
  beatMs?: number;
  /** How long a pool stays subscribed after its last caller, ms. The check enforces it. */
  keptMs?: number;
};

/** Sessions in one call of the check script. */
const sessionsPerCheck = 500;

const Message = z.object({
  session: z.string(),
  wake: z.enum(["granted", "draining", "recheck"]),
  lease: z.string().optional(),
});
type Tell = (wake: Wake) => void;

const inbox = (onStop: () => void): Listener & { tell: Tell } => {
  const wakes: Wake[] = [];
  let wakeUp: (() => void) | undefined;
  return {
    tell(wake) {
      wakes.push(wake);
      wakeUp?.();
    },
    async next(signal) {
      for (;;) {
        const wake = wakes.shift();
        if (wake) return wake;
        signal.throwIfAborted();
        const woken = Promise.withResolvers<void>();
        wakeUp = woken.resolve;
        signal.addEventListener("abort", wakeUp, { once: true });
        await woken.promise;
        signal.removeEventListener("abort", wakeUp);
      }
    },
    stop: onStop,
  };
};

/** Listens for grants until `close`. */
export const startGrants = ({
  subscriber,
  store,
  replicaId,
  log,
  checkMs = 10_000,
  beatMs = 500,
  keptMs = 10 * 60_000,
}: GrantsOptions): Grants => {
  /** Pool → session → the function that wakes its caller. */
  const waiting = new Map<string, Map<string, Tell>>();
  /** Pools whose last check sent an empty message, and no message has arrived since. */
  const silent = new Set<string>();

  const read = (poolUid: string, text: string): void => {
    silent.delete(poolUid);
    if (text === "") return;
    try {
      const message = Message.parse(JSON.parse(text));
      const tell = waiting.get(poolUid)?.get(message.session);
      if (message.wake !== "granted") tell?.({ kind: message.wake });
      else if (message.lease) tell?.({ kind: "granted", lease: parseLease(message.lease) });
    } catch (err) {
      log.error({ err }, "a grant could not be read");
    }
  };
  const channels = openPoolChannels(subscriber, replicaId, {
    onMessage: read,
    onMissed(poolUid) {
      for (const tell of waiting.get(poolUid)?.values() ?? []) tell({ kind: "recheck" });
    },
  });

  const checkPool = async (poolUid: string, callers: Map<string, Tell>): Promise<void> => {
    let isReceiving = !silent.has(poolUid);
    silent.add(poolUid);
    const sessions = [...callers.keys()];
    for (let from = 0; from < sessions.length; from += sessionsPerCheck) {
      const some = sessions.slice(from, from + sessionsPerCheck);
      const { subscribers, lost } = await store.findLost(poolUid, grantsChannel(poolUid, replicaId), some);
      if (subscribers === 0) isReceiving = false;
      for (const session of lost) callers.get(session)?.({ kind: "recheck" });
    }
    if (!isReceiving) await channels.renew(poolUid);
  };
  const check = async (): Promise<void> => {
    channels.forgetUnused(keptMs, (poolUid) => waiting.has(poolUid));
    // While Redis is away every check fails. When the connection comes back, the subscriptions are renewed anyway.
    await Promise.allSettled([...waiting].map(([poolUid, callers]) => checkPool(poolUid, callers)));
  };
  const beatIn = async (poolUid: string, callers: Map<string, Tell>): Promise<void> => {
    const wasSilent = await store.beat(poolUid, grantsChannel(poolUid, replicaId));
    if (wasSilent) await checkPool(poolUid, callers);
  };
  let isBeating = false;
  const beat = async (): Promise<void> => {
    if (isBeating) return;
    isBeating = true;
    // While Redis is away every beat fails.
    await Promise.allSettled([...waiting].map(([poolUid, callers]) => beatIn(poolUid, callers)));
    isBeating = false;
  };
  const timers = [setInterval(() => void check(), checkMs), setInterval(() => void beat(), beatMs)];

  return {
    channel: (poolUid) => grantsChannel(poolUid, replicaId),
    follow: channels.follow,
    listen(poolUid, session) {
      const callers = waiting.get(poolUid) ?? new Map<string, Tell>();
      waiting.set(poolUid, callers);
      const { tell, ...listener } = inbox(() => {
        callers.delete(session);
        if (callers.size === 0 && waiting.get(poolUid) === callers) waiting.delete(poolUid);
        if (callers.size === 0) silent.delete(poolUid);
      });
      callers.set(session, tell);
      return listener;
    },
    size: () => [...waiting.values()].reduce((sum, callers) => sum + callers.size, 0),
    async close() {
      for (const timer of timers) clearInterval(timer);
      subscriber.disconnect();
    },
  };
};
