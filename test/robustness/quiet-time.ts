/** A time in which nobody asks for anything: whatever is written now, the service writes by itself. */
import { setTimeout as sleep } from "node:timers/promises";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { pods as podType } from "../../src/platform/kube/resource-type.ts";
import type { EventOf } from "./history/history.ts";
import type { Topology } from "./topology.ts";

const forMs = 5000;

/** Version of every pool and pod, by `kind/name`. */
const versions = async ({ kube, namespace }: Topology): Promise<Map<string, string>> => {
  const [pods, pools] = await Promise.all([
    kube.list(podType, { namespace }),
    kube.list(browserPoolKind, { namespace }),
  ]);
  const named = (kind: string, items: { metadata: { name: string; resourceVersion?: string } }[]) =>
    items.map(({ metadata }) => [`${kind}/${metadata.name}`, metadata.resourceVersion ?? ""] as const);
  return new Map([...named("pods", pods.items), ...named("browserpools", pools.items)]);
};

/** Calls of commands that write, by name, since Redis counts them; scripts count by what they call. */
const writeCommands = [
  "hset",
  "hsetnx",
  "hdel",
  "hincrby",
  "zadd",
  "zrem",
  "set",
  "del",
  "unlink",
  "expire",
  "xadd",
  "rename",
];
const redisCalls = async ({ redis }: Topology): Promise<Map<string, number>> => {
  const texts = await Promise.all(redis.masters().map((server) => server.info("commandstats")));
  const calls = new Map<string, number>();
  for (const [, name = "", count] of texts.join("\n").matchAll(/^cmdstat_(\w+):calls=(\d+)/gm))
    calls.set(name, (calls.get(name) ?? 0) + Number(count));
  return calls;
};

type QuietTime = EventOf<"end">["quiet"];

/** Waits and tells what was written meanwhile. */
const observeOnce = async (topology: Topology): Promise<QuietTime> => {
  const startMs = performance.now();
  const [objectsBefore, callsBefore] = [await versions(topology), await redisCalls(topology)];
  await sleep(forMs);
  const [objects, calls] = [await versions(topology), await redisCalls(topology)];
  const names = new Set([...objectsBefore.keys(), ...objects.keys()]);
  const etcdWrites = [...names].flatMap((name) => {
    const [was, is] = [objectsBefore.get(name), objects.get(name)];
    if (was === is) return [];
    return `${name} ${was === undefined ? "ADDED" : is === undefined ? "DELETED" : "MODIFIED"}`;
  });
  const redisWrites = writeCommands.flatMap((name) => {
    const more = (calls.get(name) ?? 0) - (callsBefore.get(name) ?? 0);
    return more > 0 ? `${name} × ${more}` : [];
  });
  return { forMs: performance.now() - startMs, etcdWrites, redisWrites };
};

/** Quiet times of which one has to be quiet. */
const tries = 3;

/**
 * What is written in a quiet time. Where something is, the next quiet time counts: the operator tells a pool that Redis
 * has lost its bounds for ended leases again within ten seconds (keep-ended-bounds.ts), and once; and each api asks
 * once a minute whether it is its turn to look for old recordings and files (sweep-blobs.ts).
 */
export const observeQuietTime = async (topology: Topology): Promise<QuietTime> => {
  for (let left = tries - 1; ; left--) {
    const seen = await observeOnce(topology);
    if (left === 0 || (seen.etcdWrites.length === 0 && seen.redisWrites.length === 0)) return seen;
  }
};
