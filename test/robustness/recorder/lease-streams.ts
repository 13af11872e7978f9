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

/** `id`: in the stream. */
type Last = { id: string; entry: string };

type Entries = [key: string, entries: [id: string, fields: string[]][]][];

export const startLeaseStreams = ({ redis, recorder }: { redis: RedisHost; recorder: Recorder }): LeaseStreams => {
  /** The entry of each pool that was read last; undefined before the first. */
  const lasts = new Map<string, Last | undefined>();
  /** All entries, of all pools. */
  const written = new Set<string>();
  // One for the whole history, exact to microseconds: entries keep the order that Redis' clock gives them.
  const offsetMs = monotonicMs() - (performance.timeOrigin + performance.now());
  const stopping = new AbortController();

  const readEntries = async (pool: string): Promise<Entries> => {
    const client = redis.client();
    if (client.status !== "ready") return [];
    const key = leaseStreamKey(pool);
    return ((await client.xread("COUNT", readAtOnce, "STREAMS", key, lasts.get(pool)?.id ?? "0")) ?? []) as Entries;
  };
  /** Resolves with whether there was anything to read. */
  const readPool = async (pool: string): Promise<boolean> => {
    // Redis may be away; whatever it still has then is read later.
    const [[, entries] = ["", []]] = await readEntries(pool).catch((): Entries => []);
    const events = entries.map((entry) => leaseEventOf(pool, entry, offsetMs));
    const last = lasts.get(pool);
    if (last && events[0] && events[0].after !== last.entry) {
      // Another master than before, whose earlier entries were not read.
      lasts.set(pool, undefined);
      return true;
    }
    for (const event of events.filter(({ entry }) => !written.has(`${pool} ${entry}`))) recorder.write(event);
    for (const { entry } of events) written.add(`${pool} ${entry}`);
    const [id, entry] = [entries.at(-1)?.[0], events.at(-1)?.entry];
    if (id !== undefined && entry !== undefined) lasts.set(pool, { id, entry });
    return events.length > 0;
  };
  const read = async (): Promise<boolean> => (await Promise.all([...lasts.keys()].map(readPool))).includes(true);
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await read();
      await sleep(readEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    follow: (poolUid) => void lasts.set(poolUid, undefined),
    async stop() {
      stopping.abort();
      await running;
      while (await read());
      await Promise.all([...lasts.keys()].map((pool) => redis.client().unlink(leaseStreamKey(pool))));
    },
  };
};
