/**
 * Tells the callers who wait at this API replica of their grants.
 *
 *   wait(session) ──► message on the pool's channel ──► resolved with `granted` or `draining`
 *                 └─► something may have been missed ──► resolved with `recheck`: ask the script again
 *
 * A message can be lost: the subscription was cut or hangs, Redis lost its data, the replica was passed over as dead. So
 * callers ask again when a subscription stands anew, when the operator says that Redis lost data, and when a check of all
 * who wait here, every ten seconds and one script a pool, finds that they are not in the queue (any more).
 */
import { z } from "zod";
import type { Logger } from "../log.ts";
import type { RedisConnection } from "../redis/connection.ts";
import { type LeaseStore, parseLease } from "./lease-store.ts";
import { openPoolChannels } from "./pool-channels.ts";
import { grantsChannel } from "./pool-keys.ts";
import type { LeaseRecord } from "./records.ts";

export type Wake = { kind: "granted"; lease: LeaseRecord } | { kind: "draining" } | { kind: "recheck" };

export type Listener = { next(signal: AbortSignal): Promise<Wake>; stop(): void };

export type Grants = {
  /** The channel that this replica's callers give to the take script. */
  channel(poolUid: string): string;
  /** Before a caller's first take: resolves when messages for the pool's callers reach this replica; throws `unavailable`. */
  follow(poolUid: string): Promise<void>;
  /** Begins to listen for a session; call it before the script that may grant. */
  listen(poolUid: string, session: string): Listener;
  /** Callers that wait here. */
  size(): number;
  close(): Promise<void>;
};

export type GrantsOptions = {
  /** A connection for this alone. `close` ends it. */
  subscriber: RedisConnection;
  store: LeaseStore;
  /** New for every process. */
  replicaId: string;
  log: Logger;
  /** Time between two checks of the waiting callers, ms. */
  checkMs?: number;
  /** How long a pool is followed after its last caller, ms; looked at with each check. */
  keptMs?: number;
};

/** Sessions that one check script looks at. */
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
  keptMs = 10 * 60_000,
}: GrantsOptions): Grants => {
  /** Pool → session → its caller. */
  const waiting = new Map<string, Map<string, Tell>>();
  /** Pools that got an empty message of a check and have heard nothing since. */
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
    let isHeard = !silent.has(poolUid);
    silent.add(poolUid);
    const sessions = [...callers.keys()];
    for (let from = 0; from < sessions.length; from += sessionsPerCheck) {
      const some = sessions.slice(from, from + sessionsPerCheck);
      const { subscribers, lost } = await store.findLost(poolUid, grantsChannel(poolUid, replicaId), some);
      if (subscribers === 0) isHeard = false;
      for (const session of lost) callers.get(session)?.({ kind: "recheck" });
    }
    if (!isHeard) await channels.renew(poolUid);
  };
  const check = async (): Promise<void> => {
    channels.forgetUnused(keptMs, (poolUid) => waiting.has(poolUid));
    // While Redis is away there is nothing to find; its return renews the subscriptions.
    await Promise.allSettled([...waiting].map(([poolUid, callers]) => checkPool(poolUid, callers)));
  };
  const timer = setInterval(() => void check(), checkMs);

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
      clearInterval(timer);
      subscriber.disconnect();
    },
  };
};
