/** Runs a scenario against the real operator and API, and writes down what there is at each moment. */
import { setTimeout as sleep } from "node:timers/promises";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import type { ApiReplica } from "../../test/support/cluster.ts";
import { type LeaseView, viewLeases } from "../../test/support/lease-view.ts";
import { poolAt, type Session } from "../../test/support/pool-client.ts";
import type { SimulatedCluster } from "../../test/support/simulated-node/simulated-cluster.ts";
import type { Scenario } from "./scenarios.ts";

/** What there is at a second of the trace. `size`: the pool's; `up`: browsers in use and idle. */
export type Moment = { second: number; callers: number; size: number; up: number; inUse: number; waiting: number };

/** `waits`: of callers for their browsers, ms. */
export type Trace = { name: string; title: string; max: number; moments: Moment[]; waits: number[] };

const sampleMs = 250;

const createPool = async (api: ApiReplica, autoscale: object): Promise<string> => {
  const body = { headless: true, fill_rate_per_minute: 600, autoscale };
  const answer = await api.call("POST", "/browser_pools", body);
  if (answer.status !== 200) throw new Error(`no pool: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
};

/** Callers of a pool, each with a browser or waiting for one. */
const createCallers = (api: ApiReplica, id: string) => {
  const pool = poolAt(api.call, id);
  const waits: number[] = [];
  const callers: Promise<Session>[] = [];
  const enter = async (): Promise<Session> => {
    const beganMs = performance.now();
    const session = await pool.acquire();
    waits.push(performance.now() - beganMs);
    return session;
  };
  const leave = async (caller: Promise<Session>): Promise<void> => void (await pool.release(await caller));
  const leaving = new Set<Promise<void>>();
  return {
    waits,
    /** Lets callers come or go until there are so many. */
    become(count: number): void {
      while (callers.length < count) callers.push(enter());
      for (const caller of callers.splice(count)) leaving.add(leave(caller));
    },
    /** Resolves when all are gone; rejects with the first error of any. */
    async end(): Promise<void> {
      this.become(0);
      await Promise.all(leaving);
    },
  };
};

type Watched = { cluster: SimulatedCluster; id: string; uid: string; leases: LeaseView };

const look = async ({ cluster, id, uid, leases }: Watched): Promise<Omit<Moment, "second" | "callers">> => {
  const [pool, { browsers, waiting }] = await Promise.all([
    cluster.kube.get(browserPoolKind, { namespace: cluster.namespace, name: id }) as Promise<BrowserPool>,
    leases.store.snapshot(uid),
  ]);
  const inUse = browsers.filter(({ state }) => state === "leased").length;
  const idle = browsers.filter(({ state }) => state === "idle").length;
  return { size: pool.status?.acceptedSize ?? 0, up: inUse + idle, inUse, waiting };
};

/** Resolves with the trace when the scenario is over and its pool is gone. */
export const runScenario = async (
  { name, title, seconds, autoscale, callers }: Scenario,
  { cluster, api, signal }: { cluster: SimulatedCluster; api: ApiReplica; signal: AbortSignal },
): Promise<Trace> => {
  const settings = autoscale(new Date());
  const id = await createPool(api, settings);
  const leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  try {
    const watched = { cluster, id, uid: await leases.uidOf(id), leases };
    const load = createCallers(api, id);
    const moments: Moment[] = [];
    const beganMs = performance.now();
    for (;;) {
      const second = (performance.now() - beganMs) / 1000;
      if (second >= seconds) break;
      load.become(callers(second));
      moments.push({ second, callers: callers(second), ...(await look(watched)) });
      await sleep(sampleMs, undefined, { signal });
    }
    await load.end();
    const max = Math.max(settings.max, ...moments.map(({ size }) => size));
    return { name, title, max, moments, waits: load.waits };
  } finally {
    leases.close();
    await api.call("DELETE", `/browser_pools/${id}`, { force: true });
  }
};
