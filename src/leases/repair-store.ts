/** What repairing the lease state needs of Redis: epochs, and one browser's record examined and settled. */

import type { RedisConnection } from "../redis/connection.ts";
import { orUnavailable } from "../redis/or-unavailable.ts";
import { listReply, numberReply, textReply } from "../redis/reply.ts";
import { loadScript, runScript, type Script } from "../redis/script.ts";
import { parseLease } from "./lease-store.ts";
import { poolKey, poolKeys } from "./pool-keys.ts";
import { BrowserRecord, type EndReason, type LeaseRecord } from "./records.ts";

/** What Redis knows of a browser at one moment. */
export type Examined = {
  epoch: number;
  /** The moment, ms by Redis' clock. */
  nowMs: number;
  /** The record's text, "" when there is none: `repair` does nothing when it has changed. */
  text: string;
  record: BrowserRecord | undefined;
  /** The lease that the record names. */
  lease: LeaseRecord | undefined;
};

/** How a browser's record shall be. */
export type Repair = {
  record: Omit<BrowserRecord, "since">;
  /** What becomes of the lease that the record named until now; a dropped one was never its caller's. */
  former: "kept" | "dropped" | EndReason;
  /** The lease that comes back, of the session that the record names. */
  restored?: LeaseRecord;
  /** The browser that Redis has that session with; left out, it must have none. */
  displaced?: string;
};

/** Every method throws `unavailable` when Redis does not answer. */
export type RepairStore = ReturnType<typeof createRepairStore>;

const scripts = {
  establish: loadScript("establish", import.meta.url),
  recovered: loadScript("recovered", import.meta.url),
  examine: loadScript("examine", import.meta.url),
  repair: loadScript("repair", import.meta.url),
};

/** A store over this connection. It keeps nothing itself. */
export const createRepairStore = (redis: RedisConnection) => {
  const run = (script: Script, poolUid: string, argv: (string | number)[]): Promise<unknown> =>
    orUnavailable(runScript(redis, script, poolKeys(poolUid), argv));

  return {
    /** The epoch of the pool, 0 when Redis knows nothing of it. */
    async epoch(poolUid: string): Promise<number> {
      return Number(await orUnavailable(redis.hget(poolKey(poolUid, "pool"), "epoch")));
    },
    /** Begins an epoch and has all waiting callers ask again; false when it or a later one has begun before. */
    async establish(poolUid: string, epoch: number): Promise<boolean> {
      return (await run(scripts.establish, poolUid, [epoch])) === 1;
    },
    /** Ends the recovery that the epoch began with. */
    async recovered(poolUid: string, epoch: number): Promise<boolean> {
      return (await run(scripts.recovered, poolUid, [epoch])) === 1;
    },
    async examine(poolUid: string, browserId: string): Promise<Examined> {
      const reply = listReply(await run(scripts.examine, poolUid, [browserId]));
      const text = textReply(reply[2]);
      const lease = textReply(reply[3]);
      return {
        epoch: numberReply(reply[0]),
        nowMs: numberReply(reply[1]),
        text,
        record: text === "" ? undefined : BrowserRecord.parse(JSON.parse(text)),
        lease: lease === "" ? undefined : parseLease(lease),
      };
    },
    /** False when the record or the epoch has changed since they were examined, or the restored session has moved on: examine it again. */
    async repair(
      poolUid: string,
      { epoch, text }: Pick<Examined, "epoch" | "text">,
      { record, former, restored, displaced = "" }: Repair,
    ): Promise<boolean> {
      const lease = restored ? JSON.stringify(restored) : "";
      const argv = [record.id, epoch, text, JSON.stringify(record), former, lease, displaced];
      return (await run(scripts.repair, poolUid, argv)) === 1;
    },
    /** What Redis knows of a session apart from any browser. */
    async session(poolUid: string, session: string): Promise<{ isEnded: boolean; lease: LeaseRecord | undefined }> {
      const [lease, ended] = await Promise.all([
        orUnavailable(redis.hget(poolKey(poolUid, "leases"), session)),
        orUnavailable(redis.hexists(poolKey(poolUid, "ended"), session)),
      ]);
      return { isEnded: ended === 1, lease: lease === null ? undefined : parseLease(lease) };
    },
  };
};
