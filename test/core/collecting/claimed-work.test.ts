import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startClaimedWork } from "../../../src/core/collecting/claimed-work.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createCollectClaims } from "../../../src/platform/redis/collect-claims.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../../src/platform/redis/connection.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { silent } from "../../support/lease-parts.ts";

let redis: RedisConnection;
beforeAll(async () => {
  redis = connectRedis((await sharedServers()).redisUrl, silent);
  await whenReady(redis, 10_000);
});
afterAll(() => redis.disconnect());

test("work that failed is no longer claimed: who needs it has it done again, by any replica", async () => {
  const collected = { session: newId(), poolUid: newId() };
  const runs: string[] = [];
  const start = async (replica: string, fails: boolean) => {
    const claims = createCollectClaims(redis, replica, "telemetry");
    // What a replica claims that nobody has heard of yet is free to all others on this Redis.
    await claims.takeOver(0);
    return startClaimedWork({
      claims,
      async run({ session }, signal) {
        if (session !== collected.session) return;
        runs.push(replica);
        if (fails) throw new Error("it fails");
        await sleep(60_000, undefined, { signal }).catch(() => undefined);
      },
      most: 10,
      what: "tests",
      log: silent,
    });
  };
  const [one, two] = [await start(`one-${newId()}`, true), await start(`two-${newId()}`, false)];
  try {
    one.collect(collected);
    await eventually("it has failed", () => runs.length === 1);
    await eventually("the other one does it", async () => {
      await two.ensure(collected);
      return runs.length === 2;
    });
    expect(runs.map((run) => run.slice(0, 3))).toEqual(["one", "two"]);
    await one.ensure(collected);
    await two.ensure(collected);
    await sleep(50);
    expect(runs).toHaveLength(2);
  } finally {
    await Promise.all([one.stop(), two.stop()]);
  }
});
