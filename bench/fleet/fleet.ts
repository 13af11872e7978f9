/**
 * A whole installation on one machine: many pools in several projects, the agents of each project played by a process
 * of its own, one operator and several api replicas.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { LeaseStore } from "../../src/core/leases/lease-store.ts";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { freePort } from "../../src/local/free-port.ts";
import { type ApiReplica, type Cluster, type Replica, startCluster } from "../../test/support/cluster.ts";
import { forAll } from "../../test/support/for-all.ts";
import { viewLeases } from "../../test/support/lease-view.ts";
import { type NodeProcess, startNodeProcess } from "../../test/support/simulated-node/node-process.ts";
import { unboundedCallers } from "../../test/support/simulated-node/simulated-cluster.ts";
import type { Bench } from "../section.ts";
import { findInfrastructure, type Parts } from "./parts.ts";

export const projectCount = 5;
export const replicaCount = 5;
/** A pool of the default project with this many browsers is what the others are compared with. */
const warmPoolSize = 10;

export type FleetPool = { id: string; uid: string; projectId: string };
type Operator = { replica: Replica; opsUrl: string };

export type Fleet = {
  cluster: Cluster;
  apis: ApiReplica[];
  nodes: NodeProcess[];
  store: LeaseStore;
  /** Pools of the fleet, by turns from each project. */
  pools: FleetPool[];
  poolSize: number;
  warm: FleetPool;
  /**
   * Sends a request to the first replica for a project and answers the body. Rejects when the status is none of 2xx.
   */
  call(projectId: string, method: string, path: string, body?: unknown): Promise<unknown>;
  /** The operator that was started last. */
  operator(): Operator;
  startOperator(name: string): Promise<Operator>;
  /** Makes the pools of the fleet; they fill from then on. */
  createPools(count: number, size: number): Promise<void>;
  parts(): Promise<Parts>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Node's heap in a container with a limit of 1 GiB; on a large machine it would leave garbage of gigabytes. */
const heapAsInContainer = "--max-old-space-size=512";
/** Percent a minute: a browser of a pool of 20 comes back every 3 s. */
const fillRate = 100;
/** Creations of pools count against limits one after another; more at once only try again. */
const createAtOnce = 2;
const mostTries = 30;
/** Limit of a wait for the whole fleet, ms. */
export const giveUpMs = 3_600_000;

/** Resolves when each pool's counts fit, with the time that it took, ms. */
export const whenCounts = async (
  { store, pools }: Pick<Fleet, "store" | "pools">,
  { signal, say }: Pick<Bench, "signal" | "say">,
  fits: (counts: { acquired: number; available: number }, pool: FleetPool) => boolean,
): Promise<number> => {
  const beganMs = performance.now();
  const until = AbortSignal.any([signal, AbortSignal.timeout(giveUpMs)]);
  let saidMs = beganMs;
  let missing = [...pools];
  for (;;) {
    const counts = await forAll(missing, 32, async (pool) => ({ pool, counts: await store.counts(pool.uid) }));
    missing = counts.filter(({ pool, counts: now }) => !fits(now, pool)).map(({ pool }) => pool);
    if (missing.length === 0) return performance.now() - beganMs;
    if (performance.now() - saidMs > 30_000) {
      saidMs = performance.now();
      say(`${missing.length} of ${pools.length} pools to go after ${((saidMs - beganMs) / 1000).toFixed(0)} s`);
    }
    await sleep(200, undefined, { signal: until });
  }
};

/** Requests of a caller with a key of the organization; a busy API server is asked again, as the answer says. */
const createCall = ({ url, apiKey }: { url: string; apiKey: string }, signal: AbortSignal): Fleet["call"] => {
  const callOnce = async (projectId: string, method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(projectId !== "" && { "x-kernel-project-id": projectId }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  return async (...request) => {
    for (let tries = 1; ; tries++) {
      const { status, text } = await callOnce(...request);
      if (status < 300) return text === "" ? undefined : JSON.parse(text);
      if (status !== 503 || tries === mostTries)
        throw new Error(`${request[1]} ${request[2]} was answered with ${status}: ${text}`);
      await sleep(1000, undefined, { signal });
    }
  };
};

/** Starts everything but the pools of the fleet. */
export const startFleet = async (bench: Bench): Promise<Fleet> => {
  await using starting = new AsyncDisposableStack();
  const nodes: NodeProcess[] = [];
  const stopNodes = async (): Promise<void> => void (await Promise.all(nodes.map((node) => node.stop())));
  const cluster = starting.use(
    await startCluster({
      env: {
        BROWSERPOOL_POOLED_SESSIONS: "1000000",
        BROWSERPOOL_OBJECTS_PER_PROJECT: "",
        NODE_OPTIONS: heapAsInContainer,
        ...unboundedCallers,
      },
      startNode: async () => ({ stop: stopNodes }),
    }),
  );
  const addNode = async (namespace: string): Promise<void> => {
    const { kubeconfigPath } = cluster;
    nodes.push(await startNodeProcess({ kubeconfigPath, namespace, nodeName: `node-of-${namespace}` }));
  };
  await addNode(cluster.namespace);
  let operator: Operator | undefined;
  const startOperator = async (name: string): Promise<Operator> => {
    const port = await freePort("127.0.0.1");
    if (port === undefined) throw new Error("no port is free");
    const replica = cluster.startOperator(name, { BROWSERPOOL_OPS_PORT: String(port) });
    operator = { replica, opsUrl: `http://127.0.0.1:${port}` };
    await replica.logged("leading");
    return operator;
  };
  const currentOperator = (): Operator => {
    if (!operator) throw new Error("no operator was started");
    return operator;
  };
  await startOperator("operator");
  const apis: ApiReplica[] = [];
  for (let index = 0; index < replicaCount; index++) apis.push(await cluster.startApi(`api-${index}`));
  const call = createCall({ url: apis[0]?.url ?? "", apiKey: cluster.apiKey }, bench.signal);
  const leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  starting.defer(() => leases.close());
  const createPool = async (projectId: string, size: number, rate: number): Promise<FleetPool> => {
    const body = { size, headless: true, fill_rate_per_minute: rate };
    const { id } = (await call(projectId, "POST", "/browser_pools", body)) as { id: string };
    const namespace = projectId === "" ? cluster.namespace : projectId;
    const uid = (await cluster.kube.get(browserPoolKind, { namespace, name: id }))?.metadata.uid ?? "";
    return { id, uid, projectId };
  };
  const projects: string[] = [];
  for (let index = 0; index < projectCount; index++) {
    const { id } = (await call("", "POST", "/org/projects", { name: `fleet-${index}` })) as { id: string };
    projects.push(id);
    await addNode(id);
  }
  const warm = await createPool("", warmPoolSize, 6000);
  await whenCounts({ store: leases.store, pools: [warm] }, bench, ({ available }) => available === warmPoolSize);
  const fleet: Fleet = {
    cluster,
    apis,
    nodes,
    store: leases.store,
    pools: [],
    poolSize: 0,
    warm,
    call,
    operator: currentOperator,
    startOperator,
    async createPools(count, size) {
      fleet.poolSize = size;
      const wanted = Array.from({ length: count }, (_, index) => projects[index % projects.length] ?? "");
      fleet.pools.push(...(await forAll(wanted, createAtOnce, (projectId) => createPool(projectId, size, fillRate))));
    },
    async parts() {
      const pidsOf = (replicas: Replica[]): number[] => replicas.map(({ process: { pid = 0 } }) => pid);
      return new Map([
        ...(await findInfrastructure()),
        ["operator", pidsOf([currentOperator().replica])],
        ["api", pidsOf(apis)],
        ["agents", nodes.map(({ pid }) => pid)],
        ["bench", [process.pid]],
      ]);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
  const kept = starting.move();
  return fleet;
};
