/** What inspections and recoveries need from Redis: epochs, and one browser's record to examine and to repair. */

import type { RedisConnection } from "../../platform/redis/connection.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import { listReply, loadScript, numberReply, runScript, type Script, textReply } from "../../platform/redis/script.ts";
import type { InspectTarget } from "./inspect.ts";
import { parseLease } from "./lease-store.ts";
import { poolKey, poolKeys } from "./pool-keys.ts";
import { BrowserRecord, type EndReason, type LeaseRecord, type OnLeaseEnded } from "./records.ts";

/**
 * Retires a browser that has no record in Redis, so that no inspection registers it, not even an inspection under way.
 * Returns false and changes nothing when the browser has a record by now, or the epoch is another one. Throws
 * `unavailable`.
 */
export const retireUnknown = (
  { poolUid, epoch, browser: { id, pod, address, configHash } }: InspectTarget,
  repairs: Pick<RepairStore, "repair">,
): Promise<boolean> => {
  const record = { id, pod, address, config: configHash, seq: 0, state: "retired", reason: "unreachable" } as const;
  return repairs.repair(poolUid, { epoch, text: "" }, { record, former: "kept" });
};

/** What Redis knows about a browser at one moment. */
export type Examined = {
  epoch: number;
  /** Time of the examination, ms by Redis' clock. */
  nowMs: number;
  /** The record's text, "" when there is none. `repair` does nothing when it has changed since. */
  text: string;
  record: BrowserRecord | undefined;
  /** The lease that the record names. */
  lease: LeaseRecord | undefined;
  /** The API replica that asked for this lease is silent (LEASE-54). */
  isReplicaStill: boolean;
};

/** A correction of a browser's record. */
export type Repair = {
  record: Omit<BrowserRecord, "since">;
  /** What happens to the lease that the record named until now. `dropped`: its caller never had it. */
  former: "kept" | "dropped" | EndReason;
  /** The lease to restore, of the session that the record names. */
  restored?: LeaseRecord;
  /** The browser that Redis lists for that session; left out, Redis must list none. */
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

/** A store over this connection. It keeps nothing itself. `onEnded`: told of each lease that a repair has ended. */
export const createRepairStore = (redis: RedisConnection, onEnded: OnLeaseEnded = () => undefined) => {
  const run = (script: Script, poolUid: string, argv: (string | number)[]): Promise<unknown> =>
    orUnavailable(runScript(redis, script, poolKeys(poolUid), argv));

  return {
    /** The epoch of the pool, 0 when Redis knows nothing about it. */
    async epoch(poolUid: string): Promise<number> {
      return Number(await orUnavailable(redis.hget(poolKey(poolUid, "pool"), "epoch")));
    },
    /**
     * Begins an epoch and makes all waiting callers take again; false when this epoch or a later one has begun already.
     */
    async establish(poolUid: string, epoch: number): Promise<boolean> {
      return (await run(scripts.establish, poolUid, [epoch])) === 1;
    },
    /** Ends the recovery that the epoch began with; false when there was none, or the epoch is another one. */
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
        isReplicaStill: reply[4] === 1,
      };
    },
    /**
     * False when record or epoch have changed since the examination, or the restored session ended or moved: examine
     * again.
     */
    async repair(
      poolUid: string,
      { epoch, text }: Pick<Examined, "epoch" | "text">,
      { record, former, restored, displaced = "" }: Repair,
    ): Promise<boolean> {
      const lease = restored ? JSON.stringify(restored) : "";
      const argv = [record.id, epoch, text, JSON.stringify(record), former, lease, displaced];
      const reply = await run(scripts.repair, poolUid, argv);
      if (typeof reply !== "string") return reply === 1;
      onEnded(parseLease(reply), former as EndReason);
      return true;
    },
    /** What Redis knows about a session, whichever browser it has. */
    async session(poolUid: string, session: string): Promise<{ isEnded: boolean; lease: LeaseRecord | undefined }> {
      const [lease, ended] = await Promise.all([
        orUnavailable(redis.hget(poolKey(poolUid, "leases"), session)),
        orUnavailable(redis.hexists(poolKey(poolUid, "ended"), session)),
      ]);
      return { isEnded: ended === 1, lease: lease === null ? undefined : parseLease(lease) };
    },
  };
};
