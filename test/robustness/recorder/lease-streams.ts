/** Reads what the scripts write into the streams of all pools of a history, all the time, from whichever Redis is there. */
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../history/event-base.ts";
import { leaseEventOf, leaseStreamKey } from "../history/lease-event.ts";
import type { RedisHost } from "../topology/redis-host.ts";
import type { Recorder } from "./recorder.ts";

export type LeaseStreams = {
  /** Begins to read the stream of a pool. */
  follow(poolUid: string): void;
  /** Resolves when what the streams hold now is in the history; then they are deleted and no longer read. */
  stop(): Promise<void>;
};

/** Between two reads of all streams, ms: what a kill of Redis can take unread. */
const readEveryMs = 50;
const readAtOnce = 2000;

type Entries = [key: string, entries: [id: string, fields: string[]][]][];

export const startLeaseStreams = ({ redis, recorder }: { redis: RedisHost; recorder: Recorder }): LeaseStreams => {
  const lastIds = new Map<string, string>();
  // One for the whole history, exact to microseconds: entries keep the order that Redis' clock gives them.
  const offsetMs = monotonicMs() - (performance.timeOrigin + performance.now());
  const stopping = new AbortController();

  const readEntries = async (): Promise<Entries> => {
    const pools = [...lastIds.keys()];
    const { client } = redis.current();
    if (pools.length === 0 || client.status !== "ready") return [];
    const ids = pools.map((pool) => lastIds.get(pool) ?? "0");
    return ((await client.xread("COUNT", readAtOnce, "STREAMS", ...pools.map(leaseStreamKey), ...ids)) ??
      []) as Entries;
  };
  const read = async (): Promise<void> => {
    // Redis may be away; whatever it still has then is read later.
    for (const [key, entries] of await readEntries().catch(() => [])) {
      const pool = [...lastIds.keys()].find((uid) => leaseStreamKey(uid) === key) ?? "";
      for (const entry of entries) recorder.write(leaseEventOf(pool, entry, offsetMs));
      lastIds.set(pool, entries.at(-1)?.[0] ?? "0");
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await read();
      await sleep(readEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    follow: (poolUid) => void lastIds.set(poolUid, "0"),
    async stop() {
      stopping.abort();
      await running;
      await read();
      const keys = [...lastIds.keys()].map(leaseStreamKey);
      if (keys.length > 0) await redis.current().client.unlink(keys);
    },
  };
};
