/**
 * The load of the section `waiters`, in its own process. Callers come one after another, each as soon as the one before
 * is in the queue, which Redis reports by a keyspace event. So the order in which they must be served is known. Serving
 * begins when another caller releases the browser for which they wait.
 */
import { once } from "node:events";
import { poolKey } from "../../src/core/leases/pool-keys.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";
import type { Job } from "../own-process.ts";
import { createLoadClient, type Target } from "./client.ts";

export type WaitersLoad = { target: Target; poolUid: string; redisUrl: string; waiters: number };

export type WaitersResult = {
  /** From the request to the place in the queue, ms. */
  enqueues: number[];
  /** From one caller's release to the next caller's answer, ms. */
  handOvers: number[];
  /** Callers that were served before an earlier one. */
  outOfOrder: number;
};

const waitSeconds = 600;

/** Resolves with each new caller in the pool's queue. */
const watchQueue = async (redisUrl: string, poolUid: string) => {
  const redis = connectRedis(redisUrl, createLogger("silent", "bench"));
  await whenReady(redis, 10_000);
  await redis.config("SET", "notify-keyspace-events", "Kz");
  await redis.subscribe(`__keyspace@0__:${poolKey(poolUid, "waiters")}`);
  return {
    async next(): Promise<void> {
      for (;;) {
        const [, event] = (await once(redis, "message")) as [string, string];
        if (event === "zadd") return;
      }
    },
    close: () => redis.disconnect(),
  };
};

export const run: Job<WaitersLoad, WaitersResult> = async ({ target, poolUid, redisUrl, waiters }, signal) => {
  const client = createLoadClient(target, waiters);
  const queue = await watchQueue(redisUrl, poolUid);
  const enqueues: number[] = [];
  const handOvers: number[] = [];
  const served: number[] = [];
  let releasedMs: number | undefined;
  const wait = async (place: number): Promise<void> => {
    const session = await client.acquire(waitSeconds);
    if (releasedMs !== undefined) handOvers.push(performance.now() - releasedMs);
    served.push(place);
    releasedMs = performance.now();
    await client.release(session);
  };
  try {
    await client.connect(waiters);
    const callers: Promise<void>[] = [];
    for (let place = 0; place < waiters; place++) {
      signal.throwIfAborted();
      const sentMs = performance.now();
      const queued = queue.next();
      callers.push(wait(place));
      await queued;
      enqueues.push(performance.now() - sentMs);
    }
    await Promise.all(callers);
    return { enqueues, handOvers, outOfOrder: served.filter((place, turn) => place !== turn).length };
  } finally {
    queue.close();
    await client.close();
  }
};
