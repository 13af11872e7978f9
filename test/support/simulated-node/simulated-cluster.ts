import { join } from "node:path";
import { type Cluster, type ClusterOptions, startCluster } from "../cluster.ts";
import { type NodeProcess, type NodeProcessOptions, startNodeProcess } from "./node-process.ts";

export type SimulatedCluster = Cluster & {
  node: NodeProcess;
  /** Where the agents' events are written; it goes with the cluster. */
  eventsFile: string;
};

type SimulatedClusterOptions = Pick<ClusterOptions, "env"> & Pick<NodeProcessOptions, "starts" | "seed" | "ipv6">;

/** Settings of api and operator: one key of a bench or test makes the load of many callers. */
export const unboundedCallers: Readonly<Record<string, string>> = Object.fromEntries(
  ["REQUESTS_PER_SECOND", "OPEN_REQUESTS", "WAITING_ACQUIRES", "KEPT_ANSWERS_MB"].flatMap((bound) =>
    ["KEY", "PROJECT"].map((of) => [`BROWSERPOOL_${of}_${bound}`, "100000"]),
  ),
);

/** A cluster whose pods are played by one process, for more of them than browsers fit on a machine. */
export const startSimulatedCluster = async ({
  env = {},
  ...nodeOptions
}: SimulatedClusterOptions = {}): Promise<SimulatedCluster> => {
  let node: NodeProcess | undefined;
  let eventsFile = "";
  const cluster = await startCluster({
    env: {
      BROWSERPOOL_POOLED_SESSIONS: "100000",
      BROWSERPOOL_FAILED_ATTEMPTS_PER_MINUTE: "100000",
      BROWSERPOOL_OBJECTS_PER_PROJECT: "",
      ...unboundedCallers,
      ...env,
    },
    async startNode({ kubeconfigPath, dataDir }) {
      eventsFile = join(dataDir, "agent-events.jsonl");
      node = await startNodeProcess({ kubeconfigPath, eventsFile, ...nodeOptions });
      return node;
    },
  });
  return { ...cluster, node: node as NodeProcess, eventsFile };
};
