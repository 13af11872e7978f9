/**
 * Keeps the ended leases of all pools within their bounds, while this replica leads. The scripts hold the bound of a
 * pool themselves whenever a lease ends; this loop does the rest:
 *
 *   each pool       a lease that is a day old goes, also where no further one ends; the scripts learn the pool's bound
 *   all pools       too many together: the largest project's largest pools give, the oldest leases first
 *   a full server   the same, for the pools of a Redis server that nears its memory limit: nothing else that it has can go
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../../platform/base/log.ts";
import { keyOf } from "../../../platform/kube/objects.ts";
import type { MemoryUse } from "../../../platform/redis/memory-use.ts";
import type { EndedBounds, EndedLeases } from "../../leases/ended-leases.ts";
import type { OperatorMetrics } from "../../metrics/operator-metrics.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import type { PoolSource } from "../pool-source.ts";
import { fairShares } from "./fair-shares.ts";

/** Most ended leases of one pool, and of all pools together. */
export type EndedLimits = { pool: EndedBounds; all: EndedBounds };

export type KeepEndedDeps = {
  source: Pick<PoolSource, "list">;
  endedLeases: Pick<EndedLeases, "trim">;
  /** Memory of the Redis servers; throws or is empty when it is not known. */
  redisMemory(): Promise<MemoryUse[]>;
  endedLimits: EndedLimits;
  metrics: Pick<OperatorMetrics, "ended">;
  log: Logger;
  /** Throws when this replica may not write (any more). */
  check(): void;
};

/** How often the memory of Redis is read, ms: 15 % of it must last so long. And how often all pools are trimmed. */
const lookMs = 1000;
const trimMs = 10_000;

/**
 * A server is pressed above this share of its limit, and is relieved to the lower one, so that it is not pressed again
 * at once.
 */
const pressedShare = 0.85;
const relievedShare = 0.8;

/** Dropped in one run of the script, which is about 5 ms, and runs for one pool in a round. */
const steps = 1000;
const maxRuns = 50;

/** How often a server that stays pressed is told of, ms. */
const toldEveryMs = 60_000;

type Left = EndedBounds & { pool: BrowserPool; server: string };

const isPressed = ({ usedBytes, limitBytes }: MemoryUse): boolean =>
  limitBytes > 0 && usedBytes > limitBytes * pressedShare;

/** Drops beyond `now`; returns what is left, and adds what was dropped to the metrics. */
const trimPool = async (
  pool: BrowserPool,
  now: EndedBounds,
  why: "pool" | "all" | "memory",
  deps: KeepEndedDeps,
): Promise<Left & { dropped: number }> => {
  let total = 0;
  for (let run = 1; ; run++) {
    deps.check();
    const trim = { most: deps.endedLimits.pool, now, steps };
    const { dropped, count, bytes, server } = await deps.endedLeases.trim(pool.metadata.uid, trim);
    total += dropped;
    deps.metrics.ended.dropped(why, dropped);
    if (dropped < steps || run === maxRuns) return { pool, count, bytes, server, dropped: total };
  }
};

const holdings = (left: Left[], amount: (one: Left) => number) =>
  left.map((one) => ({ pool: one.pool.metadata.uid, project: one.pool.metadata.namespace, amount: amount(one) }));

/** What every pool may keep for the bounds of all pools together. */
const sharesOfAll = (left: Left[], { all }: EndedLimits): ((uid: string) => EndedBounds) => {
  const counts = fairShares(
    holdings(left, ({ count }) => count),
    all.count,
  );
  const bytes = fairShares(
    holdings(left, (one) => one.bytes),
    all.bytes,
  );
  return (uid) => ({ count: counts.get(uid) ?? 0, bytes: bytes.get(uid) ?? 0 });
};

/** What every pool of a pressed server may keep. */
const sharesOfServer = (left: Left[], { usedBytes, limitBytes }: MemoryUse): Map<string, number> => {
  const excess = usedBytes - limitBytes * relievedShare;
  const held = left.reduce((sum, { bytes }) => sum + bytes, 0);
  return fairShares(
    holdings(left, ({ bytes }) => bytes),
    held - excess,
  );
};

const relieve = async (left: Left[], memory: MemoryUse, deps: KeepEndedDeps): Promise<number> => {
  const shares = sharesOfServer(left, memory);
  let total = 0;
  for (const { pool, count, bytes } of left) {
    const may = shares.get(pool.metadata.uid) ?? bytes;
    if (may >= bytes) continue;
    const { dropped } = await trimPool(pool, { count, bytes: may }, "memory", deps);
    total += dropped;
    const { usedBytes, limitBytes } = memory;
    if (dropped > 0)
      deps.log.warn(
        { pool: keyOf(pool.metadata), dropped, usedBytes, limitBytes },
        "Redis nears its memory limit; ended leases were dropped",
      );
  }
  return total;
};

const keepAll = async (left: Left[], deps: KeepEndedDeps): Promise<Left[]> => {
  const shareOf = sharesOfAll(left, deps.endedLimits);
  const kept: Left[] = [];
  for (const one of left) {
    const may = shareOf(one.pool.metadata.uid);
    if (one.count <= may.count && one.bytes <= may.bytes) {
      kept.push(one);
      continue;
    }
    const after = await trimPool(one.pool, may, "all", deps);
    kept.push(after);
    if (after.dropped > 0)
      deps.log.info(
        { pool: keyOf(one.pool.metadata), dropped: after.dropped },
        "there were too many ended leases in all; some were dropped",
      );
  }
  return kept;
};

/** One pass over all pools. Returns how many leases went for the sake of pressed servers. */
const pass = async (memories: MemoryUse[], deps: KeepEndedDeps): Promise<number> => {
  // A pool that had no round yet has no leases.
  const pools = deps.source.list().filter(({ status }) => status?.leaseEpoch !== undefined);
  const own = await Promise.all(pools.map((pool) => trimPool(pool, deps.endedLimits.pool, "pool", deps)));
  const left = await keepAll(own, deps);
  deps.metrics.ended.left(
    left.reduce((sum, one) => ({ count: sum.count + one.count, bytes: sum.bytes + one.bytes }), { count: 0, bytes: 0 }),
  );
  let dropped = 0;
  for (const memory of memories.filter(isPressed)) {
    const here = memories.length === 1 ? left : left.filter(({ server }) => server === memory.run);
    dropped += await relieve(here, memory, deps);
  }
  return dropped;
};

/** Runs until `signal` is aborted. Never rejects: what fails is tried again a second later. */
export const keepEndedBounds = async (deps: KeepEndedDeps, signal: AbortSignal): Promise<void> => {
  let trimmedMs = Number.NEGATIVE_INFINITY;
  let toldMs = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const memories = await deps.redisMemory();
    deps.metrics.ended.memory(
      Math.max(0, ...memories.map((one) => (one.limitBytes > 0 ? one.usedBytes / one.limitBytes : 0))),
    );
    const nowMs = performance.now();
    const pressed = memories.some(isPressed);
    if (!pressed && nowMs - trimmedMs < trimMs) return;
    const dropped = await pass(memories, deps);
    trimmedMs = nowMs;
    if (!pressed || dropped > 0 || nowMs - toldMs < toldEveryMs) return;
    toldMs = nowMs;
    deps.log.error("Redis nears its memory limit, and there are no ended leases left to drop; raise the limit");
  };
  while (!signal.aborted) {
    await look().catch((err: unknown) => deps.log.debug({ err }, "ended leases were not looked at"));
    await sleep(lookMs, undefined, { signal }).catch(() => undefined);
  }
};
