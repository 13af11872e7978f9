import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";
import { forAll } from "../../test/support/for-all.ts";
import { type Cdp, openCdp } from "../../test/support/pool-client.ts";
import { createLoadClient, type LoadClient, type Session } from "../leases/client.ts";
import type { Bench } from "../section.ts";
import { type Fleet, type FleetPool, whenCounts } from "./fleet.ts";
import { row, type Stage } from "./stage.ts";

type Held = { pool: FleetPool; client: LoadClient; session: Session; cdp: Cdp | undefined };

const atOnce = 16;
/** Every tenth session has a CDP connection: each takes three sockets on this machine. */
const connectedOf = 10;

const takeHalf = async ({ apis, cluster: { apiKey }, pools, poolSize }: Fleet): Promise<Held[]> => {
  const held: Held[] = [];
  await forAll([...pools.entries()], atOnce, async ([index, pool]) => {
    const url = apis[index % apis.length]?.url ?? "";
    const client = createLoadClient({ url, apiKey, poolId: pool.id, projectId: pool.projectId }, 1);
    for (let taken = 0; taken < poolSize / 2; taken++) {
      const session = await client.acquire();
      held.push({ pool, client, session, cdp: taken % connectedOf === 0 ? await openCdp(session) : undefined });
    }
  });
  return held;
};

/** Looks sessions up by turns until the signal; the answers' count by status. */
const lookUp = async (
  held: Held[],
  { apis, cluster: { apiKey } }: Fleet,
  signal: AbortSignal,
): Promise<Map<number, number>> => {
  const statuses = new Map<number, number>();
  for (let index = 0; !signal.aborted; index += 7) {
    const { session, pool } = held[index % held.length] as Held;
    const answer = await fetch(`${apis[index % apis.length]?.url}/browsers/${session.session_id}`, {
      headers: { authorization: `Bearer ${apiKey}`, "x-kernel-project-id": pool.projectId },
    });
    await answer.body?.cancel();
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    await sleep(5);
  }
  return statuses;
};

const flush = async (redisUrl: string): Promise<void> => {
  const redis = connectRedis(redisUrl, createLogger("silent", "bench"));
  try {
    await whenReady(redis, 10_000);
    await redis.flushall();
  } finally {
    redis.disconnect();
  }
};

const countFailing = async (held: readonly Held[], act: (one: Held) => Promise<unknown>): Promise<number> =>
  (
    await forAll(held, atOnce, (one) =>
      act(one).then(
        () => true,
        () => false,
      ),
    )
  ).filter((ok) => !ok).length;

const measureLoss = async (held: Held[], fleet: Fleet, bench: Bench) => {
  const stop = new AbortController();
  const answers = lookUp(held, fleet, stop.signal);
  try {
    await flush(fleet.cluster.redisUrl);
    const half = fleet.poolSize / 2;
    const ms = await whenCounts(fleet, bench, ({ acquired, available }) => acquired === half && available === half);
    return { ms, statuses: answers };
  } finally {
    stop.abort();
    await answers;
  }
};

/** Redis loses everything while half of all browsers are leased. */
export const flushStage: Stage = {
  name: "flush",
  summary: "Redis loses all data while half of all browsers are leased",
  async run(fleet, bench) {
    const held = await takeHalf(fleet);
    const connected = held.filter(({ cdp }) => cdp !== undefined);
    bench.say(`  ${held.length} browsers are leased, ${connected.length} with a CDP connection`);
    const { ms, statuses: pending } = await measureLoss(held, fleet, bench);
    const statuses = await pending;
    const cut = await countFailing(connected, async ({ cdp }) => cdp?.version());
    const unreleased = await countFailing(held, ({ client, session }) => client.release(session));
    for (const { cdp } of connected) cdp?.close();
    await Promise.all([...new Set(held.map(({ client }) => client))].map((client) => client.close()));
    await whenCounts(fleet, bench, ({ available }) => available === fleet.poolSize);
    const none = { of: "measured", atMost: 0 } as const;
    const isExpected = (status: number): boolean => status === 200 || status === 503;
    const unexpected = [...statuses].reduce((sum, [status, count]) => sum + (isExpected(status) ? 0 : count), 0);
    return {
      rows: [
        row(`${held.length} leases and as many idle browsers are known again`, "ms", ms, {
          target: { of: "measured", atMost: 60_000 },
        }),
        row(
          "look-ups meanwhile",
          "count",
          [...statuses.values()].reduce((sum, count) => sum + count, 0),
        ),
        row("look-ups answered by neither 200 nor 503", "count", unexpected, { target: none }),
        row(`connections cut, of ${connected.length}`, "count", cut, { target: none }),
        row("sessions that could not be released", "count", unreleased, { target: none }),
      ],
      detail: { statuses: Object.fromEntries(statuses) },
    };
  },
};
