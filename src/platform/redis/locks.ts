/**
 * Locks for requests that must not run at the same time, such as two that create an object of which only one may exist:
 * Kubernetes has no unique field but `metadata.name`. A lock is a Redis key that expires, so a replica that dies with a
 * lock delays the others for a limited time only. Two such requests can still overlap when a replica is frozen for
 * longer than the lock lives, and objects can come from YAML. The operator then decides: the older object keeps its
 * name.
 */
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../base/errors.ts";
import type { RedisConnection } from "./connection.ts";
import { deleteValue } from "./delete-value.ts";
import { lockKey } from "./keys.ts";
import { orUnavailable } from "./or-unavailable.ts";
import { loadScript, runScript } from "./script.ts";

export type Locks = {
  /**
   * Runs `work` while no other request holds a lock of the same name (`what`) in any replica. Throws `unavailable` when
   * Redis is away or the lock is not free in time. `work` must end within `lockMs`: a few calls of the Kubernetes API.
   * `renews`: it may take longer, and the lock lives as long as it runs.
   */
  hold<T>(what: readonly string[], work: () => Promise<T>, options?: { renews?: boolean }): Promise<T>;
};

/** How long a lock lives, ms: longer than the deadlines of the calls under it. */
const lockMs = 15_000;

/** Longest wait for a lock, ms, and the time between two attempts: most locks are held for two calls, about 10 ms. */
const waitMs = 5000;
const retryEveryMs = 10;

/** A lock of long work is renewed this often, ms. */
const renewMs = 5000;

const renewScript = loadScript("renew-lock", import.meta.url);

/** Locks in this Redis, shared by all replicas. */
export const createLocks = (redis: RedisConnection): Locks => {
  const acquire = async (key: string, holder: string): Promise<void> => {
    const untilMs = performance.now() + waitMs;
    while (!(await orUnavailable(redis.set(key, holder, "PX", lockMs, "NX")))) {
      if (performance.now() > untilMs)
        throw new AppError("unavailable", "others write the same thing now; repeat the request", {
          retryAfterSeconds: 1,
        });
      await sleep(retryEveryMs * (0.5 + Math.random()));
    }
  };
  return {
    async hold(what, work, { renews = false } = {}) {
      const key = lockKey(createHash("sha256").update(JSON.stringify(what)).digest("hex"));
      const holder = randomUUID();
      await acquire(key, holder);
      const renewal = renews
        ? setInterval(() => {
            runScript(redis, renewScript, [key], [holder, lockMs]).catch(() => undefined);
          }, renewMs)
        : undefined;
      try {
        return await work();
      } finally {
        clearInterval(renewal);
        // A failure is harmless: the work is done, and the lock expires.
        await deleteValue(redis, key, holder).catch(() => undefined);
      }
    },
  };
};
