/**
 * A node that plays the agents of thousands of pods in one process. To the control plane it is what the local kubelet
 * is: it sees pods, gives each an address of 127.0.0.0/8 and a status, and ends them. Each agent listens on its own
 * address and is the real one but for its browser.
 */

import { startNode } from "../../../src/local/kubelet/local-kubelet.ts";
import { readSecretValues } from "../../../src/local/kubelet/pod-secrets.ts";
import type { Logger } from "../../../src/platform/base/log.ts";
import type { Kube } from "../../../src/platform/kube/client.ts";
import type { Pod } from "../../../src/platform/kube/objects.ts";
import { pods } from "../../../src/platform/kube/resource-type.ts";
import { seededRandom } from "../seeded-random.ts";
import { createAddresses, oneIpv6Address } from "./addresses.ts";
import type { AgentEvent } from "./agent-event.ts";
import { startDevTools } from "./devtools.ts";
import type { Said } from "./played-telemetry.ts";
import { type SimulatedRun, startSimulatedRun } from "./simulated-run.ts";
import { type Accident, choose, type Starts, type Switches, type Which } from "./switches.ts";

/** A pod as it is here and now. `holder`: the session that its agent has given the browser to. */
export type SimulatedPod = {
  uid: string;
  name: string;
  /** Uid of its pool. */
  pool: string | undefined;
  phase: "starting" | "running" | "ended";
  ready: boolean;
  address: string | undefined;
  holder: string | undefined;
  connections: number;
};

export type SimulatedNode = {
  pods(): Promise<SimulatedPod[]>;
  /** Sets the switches of the pods that are chosen and live now, instead of what they had; answers their uids. */
  turn(which: Which, switches: Switches): Promise<string[]>;
  /** Lets it happen to the pods that are chosen and live now; answers their uids. */
  happen(which: Which, accident: Accident): Promise<string[]>;
  starts(how: Starts): Promise<void>;
  /** Lets it happen in the held browsers of the pods that are chosen; answers their uids. */
  say(which: Which, said: Said): Promise<string[]>;
  /** The telemetry settings that each agent was sent last. */
  captured(): Promise<unknown[]>;
  /** Ends all pods; resolves when nothing of them is left. */
  stop(): Promise<void>;
};

export type SimulatedNodeOptions = {
  kube: Kube;
  /** Only pods of this namespace; left out, all. */
  namespace?: string;
  nodeName?: string;
  starts?: Starts;
  /** Its pods have the IPv6 address of loopback, one pod at a time; the others fail to start. */
  ipv6?: boolean;
  /** Of delays and failing starts. */
  seed?: number;
  observe?: (event: AgentEvent) => void;
  log: Logger;
};

const maxPods = 20_000;

/** Requests to the API server at the same time. More do not make 2,000 pods ready any sooner. */
const concurrentSteps = 64;

const poolOf = (pod: Pod): string | undefined => pod.metadata.labels?.["browserpool.dev/pool"];

const viewOf = ({ pod, state, agent }: SimulatedRun): SimulatedPod => {
  const now = state();
  const lease = now.phase === "running" ? agent()?.state().lease : undefined;
  return {
    uid: pod.metadata.uid ?? "",
    name: pod.metadata.name,
    pool: poolOf(pod),
    phase: now.phase,
    ready: now.phase === "running" && now.ready,
    address: now.phase === "running" ? now.podIp : undefined,
    holder: lease?.session_id,
    connections: lease?.connections ?? 0,
  };
};

/** Resolves when the node is registered. */
export const startSimulatedNode = async (options: SimulatedNodeOptions): Promise<SimulatedNode> => {
  const { kube, namespace, nodeName = "simulated", seed = 1, observe = () => undefined, log } = options;
  const random = seededRandom(seed);
  const addresses = options.ipv6 ? oneIpv6Address() : createAddresses();
  const devTools = await startDevTools();
  const runs = new Map<string, SimulatedRun>();
  let starts = options.starts ?? {};

  const reportEvicted = async ({ metadata }: Pod): Promise<void> => {
    const status = { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." };
    await kube.patch(pods, metadata, { metadata: { uid: metadata.uid }, status }, { subresource: "status" });
  };
  const startRun = (pod: Pod, onChange: () => void): SimulatedRun => {
    const { delayMs = 0, jitterMs = 0, failingShare = 0 } = starts;
    const start = { delayMs: delayMs + random() * jitterMs, fails: random() < failingShare };
    const parts = { addresses, devTools, observe, start, reportEvicted, onChange, log };
    const run = startSimulatedRun(pod, { ...parts, readSecretValues: (one) => readSecretValues(one, kube) });
    const uid = pod.metadata.uid ?? "";
    runs.set(uid, run);
    void run.ended.then(() => runs.delete(uid));
    return run;
  };
  const node = await startNode({
    kube,
    nodeName,
    ...(namespace && { namespace }),
    maxPods,
    concurrentSteps,
    startRun,
    removeLog: async () => undefined,
    log,
  }).catch(async (error: unknown) => {
    await devTools.stop();
    throw error;
  });
  const toAll = async (which: Which, act: (run: SimulatedRun) => Promise<void>): Promise<string[]> => {
    const candidates = [...runs].map(([uid, run]) => ({ uid, run, pool: poolOf(run.pod) }));
    const chosen = choose(candidates, which);
    await Promise.all(chosen.map(({ run }) => act(run)));
    return chosen.map(({ uid }) => uid);
  };
  return {
    pods: async () => [...runs.values()].map(viewOf),
    turn: (which, switches) => toAll(which, (run) => run.turn(switches)),
    happen: (which, accident) => toAll(which, (run) => run.happen(accident)),
    say: (which, said) => toAll(which, async (run) => run.agent()?.telemetry.say(said)),
    captured: async () => [...runs.values()].map((run) => run.agent()?.telemetry.settings() ?? null),
    async starts(how) {
      starts = how;
    },
    async stop() {
      // A stopped process can't end in order, and nobody is left to make it wait.
      await toAll({}, (run) => run.turn({}));
      await node.stop();
      await devTools.stop();
    },
  };
};
