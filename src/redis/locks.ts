/**
 * Requests that must not run at once, such as two that create what may exist once: Kubernetes knows no unique field but
 * `metadata.name`. A turn is a key of Redis with an end, so that a replica that dies in its turn is waited for, not for ever.
 * It keeps honest replicas apart; what slips through all the same (a replica that is frozen for longer, YAML) is told apart
 * by the operator: the older object keeps its name.
 */
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors.ts";
import type { RedisConnection } from "./connection.ts";
import { lockKey } from "./keys.ts";
import { orUnavailable } from "./or-unavailable.ts";
import { loadScript, runScript } from "./script.ts";

export type Locks = {
  /**
   * Runs `work` while nobody else runs something under the same name, in whatever replica. Throws `unavailable` when Redis
   * is away or the turn does not come in time. `work` must end within `turnMs`: a few calls of the Kubernetes API.
   */
  hold<T>(what: readonly string[], work: () => Promise<T>): Promise<T>;
};

/** Longest turn, ms: above the deadlines of the calls within it. */
const leaseMs = 15_000;

/** Longest wait for a turn, ms, and the time between two looks: most turns take two calls, about 10 ms. */
const waitMs = 5000;
const retryEveryMs = 10;

const releaseScript = loadScript("release-lock", import.meta.url);

/** Locks in this Redis, shared by all replicas. */
export const createLocks = (redis: RedisConnection): Locks => {
  const acquire = async (key: string, holder: string): Promise<void> => {
    const untilMs = performance.now() + waitMs;
    while (!(await orUnavailable(redis.set(key, holder, "PX", leaseMs, "NX")))) {
      if (performance.now() > untilMs)
        throw new AppError("unavailable", "others write the same thing now; repeat the request", {
          retryAfterSeconds: 1,
        });
      await sleep(retryEveryMs * (0.5 + Math.random()));
    }
  };
  return {
    async hold(what, work) {
      const key = lockKey(createHash("sha256").update(JSON.stringify(what)).digest("hex"));
      const holder = randomUUID();
      await acquire(key, holder);
      try {
        return await work();
      } finally {
        // When this fails the turn ends by itself; the work is done.
        await runScript(redis, releaseScript, [key], [holder]).catch(() => undefined);
      }
    },
  };
};
