/** The service with simulated browsers, so that only the service is measured. */

import { setTimeout as sleep } from "node:timers/promises";
import type { ApiReplica, Replica } from "../../test/support/cluster.ts";
import { viewLeases } from "../../test/support/lease-view.ts";
import { type PoolClient, poolAt } from "../../test/support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../../test/support/simulated-node/simulated-cluster.ts";
import type { Bench } from "../section.ts";
import type { Target } from "./client.ts";

export type Service = {
  cluster: SimulatedCluster;
  api: ApiReplica;
  operator: Replica;
  /** A pool of `size` browsers, all idle. */
  pool: PoolClient;
  poolUid: string;
  target: Target;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Timeout of the filling, ms. The operator starts one browser after another, some dozens a second, fewer on a busy
 * machine.
 */
const fillWithinMs = 180_000;

const fillPool = async (
  size: number,
  cluster: SimulatedCluster,
  { call }: ApiReplica,
): Promise<{ pool: PoolClient; poolUid: string }> => {
  const answer = await call("POST", "/browser_pools", { size, headless: true, fill_rate_per_minute: 6000 });
  if (answer.status !== 200) throw new Error(`no pool: ${answer.status} ${await answer.text()}`);
  const pool = poolAt(call, ((await answer.json()) as { id: string }).id);
  const leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  try {
    const poolUid = await leases.uidOf(pool.id);
    const deadline = AbortSignal.timeout(fillWithinMs);
    while ((await leases.store.counts(poolUid)).available < size) await sleep(100, undefined, { signal: deadline });
    return { pool, poolUid };
  } finally {
    leases.close();
  }
};

type ServiceOptions = {
  size: number;
  /** Arguments of the api's Node. */
  apiArgs?: string[];
  /** Settings of api and operator. */
  env?: Record<string, string>;
};

/** Starts one api, one operator and one full pool. */
export const startService = async (
  { size, apiArgs = [], env = {} }: ServiceOptions,
  { say }: Pick<Bench, "say">,
): Promise<Service> => {
  await using parts = new AsyncDisposableStack();
  say("starting a cluster");
  const cluster = parts.use(await startSimulatedCluster({ env }));
  const operator = cluster.startOperator("operator");
  await operator.logged("leading");
  const api = await cluster.startApi("api", apiArgs);
  say(`filling a pool of ${size}`);
  const { pool, poolUid } = await fillPool(size, cluster, api);
  const kept = parts.move();
  return {
    cluster,
    api,
    operator,
    pool,
    poolUid,
    target: { url: api.url, apiKey: cluster.apiKey, poolId: pool.id },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
