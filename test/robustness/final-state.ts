/**
 * A look at everything that is left of a history's pools, past the service: Redis' keys and the API server's objects.
 */

import { parseEndedLease } from "../../src/core/leases/lease-store.ts";
import { type PoolPart, poolKey } from "../../src/core/leases/pool-keys.ts";
import { BrowserRecord, LeaseRecord } from "../../src/core/leases/records.ts";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import type { Pod } from "../../src/platform/kube/objects.ts";
import { pods as podType } from "../../src/platform/kube/resource-type.ts";
import type { FinalPool } from "./history/run-event.ts";
import type { Pool } from "./pools.ts";
import type { Topology } from "./topology.ts";

const readPool = async (pool: Pool, { redis }: Topology): Promise<Omit<FinalPool, "pods">> => {
  const client = redis.client();
  const values = (part: PoolPart): Promise<string[]> => client.hvals(poolKey(pool.uid, part));
  const [epoch, browsers, leases, ended, waiters] = await Promise.all([
    client.hget(poolKey(pool.uid, "pool"), "epoch"),
    values("browsers"),
    values("leases"),
    client.hgetall(poolKey(pool.uid, "ended")),
    client.zrange(poolKey(pool.uid, "waiters"), "0", "-1"),
  ]);
  return {
    pool: pool.uid,
    name: pool.name,
    size: pool.size,
    ...(epoch !== null && { epoch: Number(epoch) }),
    browsers: browsers.map((text) => BrowserRecord.parse(JSON.parse(text))),
    leases: leases.map((text) => LeaseRecord.parse(JSON.parse(text))),
    ended: Object.entries(ended).map(([session, text]) => {
      const { browser, reason } = parseEndedLease(session, text);
      return { session, browser, reason };
    }),
    waiters,
  };
};

/** The uid of the pool whose own pod it is; faults put others beside it that only have its label. */
const poolOf = ({ metadata }: Pod): string | undefined => {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
  return owner !== undefined && metadata.labels?.["browserpool.dev/pool"] === owner ? owner : undefined;
};

/** `known`: the pools that are meant to exist. */
export const readFinalState = async (known: Pool[], topology: Topology): Promise<FinalPool[]> => {
  const { items } = await topology.kube.list(podType, { namespace: topology.namespace });
  const podsOf = (uid: string): FinalPool["pods"] =>
    items
      .filter((pod) => poolOf(pod) === uid)
      .map(({ metadata, status }) => ({
        browser: metadata.uid ?? "",
        pod: metadata.name,
        phase: metadata.deletionTimestamp ? "Terminating" : (status?.phase ?? "Pending"),
        ready: status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false,
        marked: metadata.labels?.["browserpool.dev/leased"] !== undefined,
      }));
  return Promise.all(known.map(async (pool) => ({ ...(await readPool(pool, topology)), pods: podsOf(pool.uid) })));
};

/** What is not at rest yet; undefined when the pool is as it was asked for, every browser idle and nobody waiting. */
const unrest = ({ name, size, browsers, leases, waiters, pods }: FinalPool, status: BrowserPool["status"]) => {
  const idle = browsers.filter(({ state }) => state === "idle").length;
  const ready = pods.filter((pod) => pod.ready && pod.phase === "Running").length;
  const counts = { idle, records: browsers.length, ready, pods: pods.length, shown: status?.available ?? 0 };
  const isFull = Object.values(counts).every((count) => count === size);
  const over = { leases: leases.length, waiters: waiters.length, marked: pods.filter(({ marked }) => marked).length };
  if (isFull && Object.values(over).every((count) => count === 0)) return undefined;
  const rest = Object.entries({ ...counts, ...over });
  return `${name} of size ${size}: ${rest.map(([what, count]) => `${what} ${count}`).join(", ")}`;
};

/**
 * Every pool, and pods of pools that are gone, which are not at rest; empty: all is. Throws while something can't be
 * read.
 */
export const findUnrest = async (known: Pool[], topology: Topology): Promise<string[]> => {
  const { kube, namespace } = topology;
  const [states, beside, objects, pods] = await Promise.all([
    readFinalState(known, topology),
    topology.beside?.findUnrest() ?? [],
    kube.list(browserPoolKind, { namespace }),
    kube.list(podType, { namespace }),
  ]);
  const uids = new Set(known.map(({ uid }) => uid));
  const statusOf = (uid: string) => objects.items.find(({ metadata }) => metadata.uid === uid)?.status;
  const left = [
    ...objects.items
      .filter(({ metadata }) => !uids.has(metadata.uid ?? ""))
      .map(({ metadata }) => `pool ${metadata.name}`),
    ...pods.items.filter((pod) => !uids.has(poolOf(pod) ?? "")).map(({ metadata }) => `pod ${metadata.name}`),
  ];
  return [
    ...states.map((state) => unrest(state, statusOf(state.pool))).filter((text) => text !== undefined),
    ...left.map((what) => `${what} is left over`),
    ...beside,
  ];
};
