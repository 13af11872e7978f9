/**
 * Redis loses all data while browsers are in use: how long until everything is as before, and whether callers notice.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";
import { forAll } from "../../test/support/for-all.ts";
import { viewLeases } from "../../test/support/lease-view.ts";
import { type Cdp, openCdp } from "../../test/support/pool-client.ts";
import { createLoadClient, type LoadClient, type Session } from "../leases/client.ts";
import { type Service, startService } from "../leases/service.ts";
import type { Bench, Section } from "../section.ts";

const leased = 200;
const idle = 100;
const atOnce = 32;
/** Timeout of the run, ms. */
const giveUpMs = 120_000;

type Held = { session: Session; cdp: Cdp };

const hold = async (client: LoadClient): Promise<Held> => {
  const session = await client.acquire();
  return { session, cdp: await openCdp(session) };
};

/** Resolves with the time from the loss until every lease and every idle browser is known again, ms. */
const loseEverything = async ({ cluster, poolUid }: Service, signal: AbortSignal): Promise<number> => {
  const leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  const redis = connectRedis(cluster.redisUrl, createLogger("silent", "bench"));
  await whenReady(redis, 10_000);
  try {
    const beganMs = performance.now();
    await redis.flushall();
    const until = AbortSignal.any([signal, AbortSignal.timeout(giveUpMs)]);
    for (;;) {
      const { acquired, available } = await leases.store.counts(poolUid);
      if (acquired === leased && available === idle) return performance.now() - beganMs;
      await sleep(20, undefined, { signal: until });
    }
  } finally {
    redis.disconnect();
    leases.close();
  }
};

const measure = async (bench: Bench) => {
  await using service = await startService({ size: leased + idle }, bench);
  const client = createLoadClient(service.target, atOnce);
  try {
    bench.say(`holding ${leased} browsers, each with a CDP connection`);
    const held = await forAll(Array.from({ length: leased }), atOnce, () => hold(client));
    const before = await service.cluster.node.pods();
    bench.say("deleting all data of Redis");
    const recoveryMs = await loseEverything(service, bench.signal);
    const after = new Map((await service.cluster.node.pods()).map((pod) => [pod.uid, pod.holder]));
    const moved = before.filter(({ uid, holder }) => after.get(uid) !== holder).length;
    const answers = await forAll(held, atOnce, ({ cdp }) =>
      cdp.version().then(
        () => true,
        () => false,
      ),
    );
    const releases = await forAll(held, atOnce, ({ session }) =>
      client.release(session).then(
        () => true,
        () => false,
      ),
    );
    for (const { cdp } of held) cdp.close();
    const none = { of: "measured", atMost: 0 } as const;
    return {
      rows: [
        {
          what: `${leased} leases and ${idle} idle browsers are back`,
          unit: "ms" as const,
          measured: recoveryMs,
          target: { of: "measured" as const, atMost: 10_000 },
        },
        { what: "connections cut", unit: "count" as const, measured: answers.filter((ok) => !ok).length, target: none },
        { what: "browsers with another holder", unit: "count" as const, measured: moved, target: none },
        {
          what: "sessions that could not be released",
          unit: "count" as const,
          measured: releases.filter((ok) => !ok).length,
          target: none,
        },
      ],
    };
  } finally {
    await client.close();
  }
};

export const section: Section = {
  name: "recovery",
  summary: `FLUSHALL with ${leased} browsers in use and ${idle} idle`,
  run: measure,
};
