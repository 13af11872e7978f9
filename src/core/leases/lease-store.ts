import { z } from "zod";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import {
  listReply,
  loadScript,
  numberReply,
  runScript,
  type Script,
  textReply,
  textsReply,
} from "../../platform/redis/script.ts";
import { poolKey, poolKeys } from "./pool-keys.ts";
import {
  type AnyLease,
  type BrowserRecord,
  EndedLease,
  type EndReason,
  LeaseRecord,
  type OnLeaseEnded,
} from "./records.ts";

/**
 * The outcome of `take` and `reject`. `full`: the queue has no place for a new caller; `ended`: the session ended
 * before its caller had a browser; `unknown`: the session does not hold the browser by the lease that it rejects.
 */
export type TakeOutcome =
  | { kind: "granted"; lease: LeaseRecord }
  | { kind: "waiting"; ticket: string }
  | { kind: "full" }
  | { kind: "draining" }
  | { kind: "ended" }
  | { kind: "unknown" };

type CancelOutcome = { kind: "cancelled" } | { kind: "granted"; lease: LeaseRecord } | { kind: "unknown" };

/** `mostWaiting`: callers that the queue may have; left out: any number. */
type TakeRequest = {
  session: string;
  channel: string;
  request: string;
  ticket?: string;
  mostWaiting?: number;
  /** Only a browser that is as it was made; without one the queue is full. */
  clean?: boolean;
};

/** What the operator plans with, read at one moment. `unpaced`: the unpaced starts that discarded browsers left. */
export type PoolSnapshot = {
  /** 0 when Redis knows nothing about the pool. */
  epoch: number;
  /** When the recovery began, ms by Redis' clock; undefined when none is under way. */
  recoveringSinceMs: number | undefined;
  /** Time of the snapshot by Redis' clock, to be compared with the `since` of records. */
  nowMs: number;
  /** True when the epoch began in this run of the Redis server. Another server may lack the last writes. */
  isSameServer: boolean;
  browsers: BrowserRecord[];
  waiting: number;
  unpaced: number;
  draining: boolean;
  configs: string[];
};

/** A browser as its pod describes it. */
export type NewBrowser = {
  id: string;
  pod: string;
  address: string;
  configHash: string;
  /** Why it must not become idle; left out, it may. */
  leaving?: string;
};

type Retirement = {
  reason: string;
  /** The operator may rebuild these browsers at once, not paced by the fill rate. */
  unpaced?: boolean;
  /** At most this many; left out, all that match. */
  count?: number;
  /** Only those that were kept as their former holders left them. */
  kept?: boolean;
  /** Candidates, in the order in which they are retired; left out, all idle browsers, the longest idle first. */
  ids?: string[];
  /** Names a request that the API and the operator may both send; the second one retires nothing. */
  token?: string;
};

/**
 * The lease state of pools in Redis: one method a script, and plain reads. Each throws `unavailable` when Redis does
 * not answer.
 */
export type LeaseStore = ReturnType<typeof createLeaseStore>;

/** Parses a lease that a script wrote; throws for any other text. */
export const parseLease = (text: string): LeaseRecord => LeaseRecord.parse(JSON.parse(text));

/** Parses what a script has kept of a session's ended lease; throws for any other text. */
export const parseEndedLease = (session: string, text: string): EndedLease =>
  EndedLease.parse({ ...JSON.parse(text), session });

/** What a waiter has in the hash `requests` (scripts/includes/queue.lua). */
const WaitingRequest = z.object({ request: z.string() });

const readWaiters = async (
  redis: RedisConnection,
  poolUid: string,
  most: number,
): Promise<{ session: string; request: string }[]> => {
  const ids = await orUnavailable(redis.zrange(poolKey(poolUid, "waiters"), "0", String(most - 1)));
  if (ids.length === 0) return [];
  const texts = await orUnavailable(redis.hmget(poolKey(poolUid, "requests"), ...ids));
  // One whose request is gone has got its browser meanwhile.
  return ids.flatMap((session, index) => {
    const text = texts[index];
    return text ? [{ session, request: WaitingRequest.parse(JSON.parse(text)).request }] : [];
  });
};

const takeOutcome = (reply: unknown): TakeOutcome => {
  const [kind, value] = listReply(reply);
  switch (kind) {
    case "granted":
      return { kind, lease: parseLease(textReply(value)) };
    case "waiting":
      return { kind, ticket: String(value) };
    case "full":
    case "draining":
    case "ended":
    case "unknown":
      return { kind };
    default:
      throw new Error(`a script replied with the outcome ${kind}`);
  }
};

const cancelOutcome = (reply: unknown): CancelOutcome => {
  const [kind, value] = listReply(reply);
  if (kind === "granted") return { kind, lease: parseLease(textReply(value)) };
  if (kind === "cancelled" || kind === "unknown") return { kind };
  throw new Error(`a script replied with the outcome ${kind}`);
};

/** A lease, or undefined for what scripts reply when there is none: nil, or an empty string. */
const leaseReply = (reply: unknown): LeaseRecord | undefined => (reply ? parseLease(textReply(reply)) : undefined);

const scripts = {
  take: loadScript("take", import.meta.url),
  reject: loadScript("reject", import.meta.url),
  cancel: loadScript("cancel", import.meta.url),
  findLost: loadScript("find-lost", import.meta.url),
  beat: loadScript("beat", import.meta.url),
  release: loadScript("release", import.meta.url),
  rewrite: loadScript("rewrite", import.meta.url),
  offer: loadScript("offer", import.meta.url),
  suspect: loadScript("suspect", import.meta.url),
  retire: loadScript("retire", import.meta.url),
  close: loadScript("close", import.meta.url),
  drain: loadScript("drain", import.meta.url),
  spendUnpaced: loadScript("spend-unpaced", import.meta.url),
  snapshot: loadScript("snapshot", import.meta.url),
  isRecovering: loadScript("is-recovering", import.meta.url),
};

/** `keepsRecord`: the record stays, retired, and shows that the browser had started, until another call deletes it. */
type Keep = { keepsRecord?: boolean };

const kept = ({ keepsRecord }: Keep): number[] => (keepsRecord ? [1] : []);

const parseSnapshot = (reply: unknown): PoolSnapshot => {
  const [records, waiting, unpaced, draining, configs, epoch, recoveringSinceMs, nowMs, isSameServer] =
    listReply(reply);
  // The scripts alone write these records: a snapshot may have 10,000 of them, so their fields are not checked.
  const browsers = textsReply(records).map((text) => JSON.parse(text) as BrowserRecord);
  return {
    browsers,
    waiting: numberReply(waiting),
    unpaced: numberReply(unpaced),
    draining: draining === 1,
    configs: textsReply(configs),
    epoch: numberReply(epoch),
    recoveringSinceMs: numberReply(recoveringSinceMs) || undefined,
    nowMs: numberReply(nowMs),
    isSameServer: isSameServer === 1,
  };
};

const takeArguments = (taking: TakeRequest): (string | number)[] => {
  const { session, channel, request, ticket = "", mostWaiting = "", clean = false } = taking;
  return [session, channel, request, ticket, mostWaiting, Number(clean)];
};

/** A lease that a script has ended, or undefined; `onEnded` is told of it. */
const endedReply = (reply: unknown, reason: EndReason, onEnded?: OnLeaseEnded): LeaseRecord | undefined => {
  const lease = leaseReply(reply);
  if (lease) onEnded?.(lease, reason);
  return lease;
};

/**
 * `redis`: a connection for commands, not for subscriptions. `onEnded`: told of each lease that a script has ended for
 * this store. A lost answer of Redis is not told of.
 */
export const createLeaseStore = (redis: RedisConnection, onEnded?: OnLeaseEnded) => {
  const run = (script: Script, poolUid: string, argv: (string | number)[] = []): Promise<unknown> =>
    orUnavailable(runScript(redis, script, poolKeys(poolUid), argv));

  return {
    async take(poolUid: string, taking: TakeRequest): Promise<TakeOutcome> {
      return takeOutcome(await run(scripts.take, poolUid, takeArguments(taking)));
    },
    async reject(poolUid: string, { session, browser, epoch, seq }: LeaseRecord, reason: string): Promise<TakeOutcome> {
      return takeOutcome(await run(scripts.reject, poolUid, [session, browser, epoch, seq, reason]));
    },
    async cancel(poolUid: string, session: string): Promise<CancelOutcome> {
      return cancelOutcome(await run(scripts.cancel, poolUid, [session]));
    },
    /** `lost`: the `sessions` that are not in the queue. `subscribers`: how many the replica's channel has. */
    async findLost(
      poolUid: string,
      channel: string,
      sessions: string[],
    ): Promise<{ subscribers: number; lost: string[] }> {
      const [subscribers, lost] = listReply(await run(scripts.findLost, poolUid, [channel, ...sessions]));
      return { subscribers: numberReply(subscribers), lost: textsReply(lost) };
    },
    /**
     * Notes that the replica of this channel is alive. True when it counted as silent, so its callers may have been
     * dropped.
     */
    async beat(poolUid: string, channel: string): Promise<boolean> {
      return (await run(scripts.beat, poolUid, [channel])) === 1;
    },
    /** Undefined when the session is not held (any more). */
    async release(
      poolUid: string,
      session: string,
      next: "releasing" | "retired",
      reason: EndReason,
    ): Promise<LeaseRecord | undefined> {
      return endedReply(await run(scripts.release, poolUid, [session, next, reason]), reason, onEnded);
    },
    /** Replaces the request of a live session; `changed` when the request is no longer that of `lease`. */
    async rewrite(poolUid: string, lease: AnyLease, request: string): Promise<LeaseRecord | "changed" | "gone"> {
      const reply = await run(scripts.rewrite, poolUid, [lease.session, lease.request, request]);
      return typeof reply === "string" ? parseLease(reply) : reply === 0 ? "changed" : "gone";
    },
    /** `kept`: what its agent says of it; left out, the agent was not asked and the record stays as it is. */
    async offer(poolUid: string, { browser, session }: AnyLease, kept?: boolean): Promise<boolean> {
      return (await run(scripts.offer, poolUid, [browser, session, kept === undefined ? "" : Number(kept)])) === 1;
    },
    async suspect(poolUid: string, { browser, session }: AnyLease, reason: string): Promise<boolean> {
      return (await run(scripts.suspect, poolUid, [browser, session, reason])) === 1;
    },
    /** The ids of the browsers that were idle and are now retired. */
    async retire(poolUid: string, retirement: Retirement): Promise<string[]> {
      const { reason, unpaced = false, count = 1e9, kept = false, ids, token = "" } = retirement;
      if (ids?.length === 0 || count <= 0) return [];
      const argv = [reason, Number(unpaced), count, token, Number(kept), ...(ids ?? [])];
      return textsReply(await run(scripts.retire, poolUid, argv));
    },
    /** The lease that ended with the browser, if one did. */
    async close(poolUid: string, browser: string, why: EndReason, more: Keep = {}): Promise<LeaseRecord | undefined> {
      return endedReply(await run(scripts.close, poolUid, [browser, why, ...kept(more)]), why, onEnded);
    },
    /** Stops new leases. A pool with leases stays as it is, unless `evenIfLeased`. */
    async drain(poolUid: string, { evenIfLeased }: { evenIfLeased: boolean }): Promise<{ leased: number }> {
      return { leased: numberReply(await run(scripts.drain, poolUid, [evenIfLeased ? 1 : 0])) };
    },
    /** Allows new leases again. */
    async undrain(poolUid: string): Promise<void> {
      await orUnavailable(redis.hdel(poolKey(poolUid, "pool"), "draining"));
    },
    async spendUnpaced(poolUid: string, count: number): Promise<number> {
      return numberReply(await run(scripts.spendUnpaced, poolUid, [count]));
    },
    async snapshot(poolUid: string): Promise<PoolSnapshot> {
      return parseSnapshot(await run(scripts.snapshot, poolUid));
    },
    /** Deletes all keys of the pool. Call it only for a deleted pool that has no browser left. */
    async drop(poolUid: string): Promise<void> {
      await orUnavailable(redis.unlink(poolKeys(poolUid)));
    },
    /** Stores the configuration of the browsers with this hash. */
    async keepConfig(poolUid: string, hash: string, config: string): Promise<void> {
      await orUnavailable(redis.hset(poolKey(poolUid, "configs"), hash, config));
    },
    async dropConfigs(poolUid: string, hashes: string[]): Promise<void> {
      if (hashes.length > 0) await orUnavailable(redis.hdel(poolKey(poolUid, "configs"), ...hashes));
    },
    /** The text that `keepConfig` stored for this hash. */
    async config(poolUid: string, hash: string): Promise<string | undefined> {
      return (await orUnavailable(redis.hget(poolKey(poolUid, "configs"), hash))) ?? undefined;
    },
    async lease(poolUid: string, session: string): Promise<LeaseRecord | undefined> {
      const text = await orUnavailable(redis.hget(poolKey(poolUid, "leases"), session));
      return text ? parseLease(text) : undefined;
    },
    /** Undefined also when the lease ended long ago, or newer ones needed its room. */
    async endedLease(poolUid: string, session: string): Promise<EndedLease | undefined> {
      const text = await orUnavailable(redis.hget(poolKey(poolUid, "ended"), session));
      return text ? parseEndedLease(session, text) : undefined;
    },
    /**
     * The texts of all leases of a pool that run, for `parseLease`: as many as it has browsers, each of some kilobytes.
     */
    async leaseTexts(poolUid: string): Promise<string[]> {
      return orUnavailable(redis.hvals(poolKey(poolUid, "leases")));
    },
    /** The callers that wait, the next one first, with what they ask for (`SessionRequest` in JSON); `most` of them. */
    waiters: (poolUid: string, most: number) => readWaiters(redis, poolUid, most),
    async counts(poolUid: string): Promise<{ acquired: number; available: number }> {
      const [acquired, available] = await Promise.all([
        orUnavailable(redis.hlen(poolKey(poolUid, "leases"))),
        orUnavailable(redis.zcard(poolKey(poolUid, "idle"))),
      ]);
      return { acquired, available };
    },
    /** True while the session holds a browser or waits for one. */
    async isAlive(poolUid: string, session: string): Promise<boolean> {
      const [lease, ticket] = await Promise.all([
        orUnavailable(redis.hexists(poolKey(poolUid, "leases"), session)),
        orUnavailable(redis.zscore(poolKey(poolUid, "waiters"), session)),
      ]);
      return lease === 1 || ticket !== null;
    },
    /**
     * True while Redis knows nothing about the pool, or may not know every lease (yet): a session that is not found may
     * live. Ask only after a lookup has found nothing, so that other requests do not wait for the answer.
     */
    async isRecovering(poolUid: string): Promise<boolean> {
      return (await run(scripts.isRecovering, poolUid)) === 1;
    },
    async ping(): Promise<void> {
      await orUnavailable(redis.ping());
    },
  };
};

// The snapshot trusts the scripts to write this shape and does not parse each of 10,000 records with zod.
export type { BrowserRecord };
