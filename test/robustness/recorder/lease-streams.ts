/**
 * Reads what the scripts write into the streams of all pools of a history, all the time, from whichever Redis is there.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../history/event-base.ts";
import { leaseEventOf, leaseStreamKey } from "../history/lease-event.ts";
import type { RedisHost } from "../topology/redis-host.ts";
import type { Recorder } from "./recorder.ts";

type LeaseStreams = {
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

  const readEntries = async (pool: string): Promise<Entries> => {
    const client = redis.client();
    if (client.status !== "ready") return [];
    const key = leaseStreamKey(pool);
    return ((await client.xread("COUNT", readAtOnce, "STREAMS", key, lastIds.get(pool) ?? "0")) ?? []) as Entries;
  };
  const read = async (): Promise<void> => {
    const readPool = async (pool: string): Promise<void> => {
      // Redis may be away; whatever it still has then is read later.
      for (const [, entries] of await readEntries(pool).catch(() => [])) {
        for (const entry of entries) recorder.write(leaseEventOf(pool, entry, offsetMs));
        lastIds.set(pool, entries.at(-1)?.[0] ?? "0");
      }
    };
    await Promise.all([...lastIds.keys()].map(readPool));
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
      await Promise.all([...lastIds.keys()].map((pool) => redis.client().unlink(leaseStreamKey(pool))));
    },
  };
};
