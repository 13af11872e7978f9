/** The service as it runs in a cluster: a control plane, Redis and a node, and each api and operator a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connectKube, type Kube } from "../../src/kube/client.ts";
import { localApiKey } from "../../src/local/api-key-file.ts";
import { startControlPlane } from "../../src/local/control-plane.ts";
import { crdsSettled, installCrds } from "../../src/local/install-crds.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { startProcessNode } from "../../src/local/process-node/process-node.ts";
import { startRedis } from "../../src/local/redis.ts";
import { createLogger, type Logger } from "../../src/log.ts";
import { ensureNamespace } from "../../src/services/system-namespace.ts";
import { testNamespace } from "./control-plane.ts";
import type { Call } from "./pool-client.ts";

const main = join(import.meta.dirname, "../../src/main.ts");
const systemNamespace = "browserpool-system";

export type Replica = {
  process: ChildProcess;
  /** Resolves when a log line has this message; with the line. */
  logged(message: string): Promise<Record<string, string>>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, null after a kill. */
  exited: Promise<number | null>;
};
export type ApiReplica = Replica & { url: string; call: Call };

/** What a node of the cluster is started with. `dataDir`: a folder that goes with the cluster. */
export type NodeParts = { kube: Kube; kubeconfigPath: string; dataDir: string; log: Logger };

export type ClusterOptions = {
  /** What runs the pods; left out, each agent is a process with a real browser. */
  startNode?: (parts: NodeParts) => Promise<{ stop(): Promise<void> }>;
  /** Variables of api and operator beside those that every cluster sets. */
  env?: Record<string, string>;
};

export type Cluster = {
  kube: Kube;
  dataDir: string;
  kubeconfigPath: string;
  redisUrl: string;
  apiKey: string;
  /** Of the default project. */
  namespace: string;
  /** `nodeArgs`: of Node itself, before the program. */
  startApi(hostname: string, nodeArgs?: string[]): Promise<ApiReplica>;
  startOperator(hostname: string): Replica;
  [Symbol.asyncDispose](): Promise<void>;
};

const startReplica = (args: string[], env: Record<string, string>): Replica => {
  const command = args.at(-1);
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  const lines: Record<string, string>[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stderr }).on("line", (line) => {
    lines.push(JSON.parse(line));
    for (const look of waiting) look();
  });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  return {
    process: child,
    exited,
    kill: (signal) => void child.kill(signal),
    logged(message) {
      const found = Promise.withResolvers<Record<string, string>>();
      const look = (): void => {
        const line = lines.find(({ msg }) => msg === message);
        if (line) found.resolve(line);
      };
      waiting.add(look);
      look();
      exited.then((code) => found.reject(new Error(`${command} ended with ${code} before it said: ${message}`)));
      return found.promise.finally(() => waiting.delete(look));
    },
  };
};

const startBrowserNode = ({ kube, dataDir, log }: NodeParts) =>
  startProcessNode({
    kube,
    dataDir,
    agentCommand: [process.execPath, main],
    agentEnv: {
      PATH: process.env.PATH ?? "",
      NODE_COMPILE_CACHE: join(dataDir, "compile-cache"),
      BROWSERPOOL_CHROMIUM_HEADLESS: locatePrograms(process.env)["chromium-headless-shell"] ?? "",
    },
    log,
  });

export const startCluster = async ({
  startNode = startBrowserNode,
  env = {},
}: ClusterOptions = {}): Promise<Cluster> => {
  await using parts = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), "bp-"));
  parts.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const programs = locatePrograms(process.env);
  const log = createLogger("warn", "test");
  const plane = await startControlPlane({ dataDir, programs, log, unsafeNoFsync: true });
  parts.defer(() => plane.stop());
  const redis = await startRedis({ dataDir, programs, log });
  parts.defer(() => redis.stop());
  const kube = connectKube({ kubeconfigPath: plane.kubeconfigPath });
  parts.defer(() => kube.close());
  await installCrds(kube);
  await crdsSettled(kube);
  await ensureNamespace(kube, systemNamespace);
  const apiKey = await localApiKey({ dataDir, kube, namespace: systemNamespace });
  const { name: namespace, projectId } = await testNamespace(kube);
  const node = await startNode({ kube, kubeconfigPath: plane.kubeconfigPath, dataDir, log });
  parts.defer(() => node.stop());
  const replicas: Replica[] = [];
  parts.defer(async () => {
    for (const replica of replicas) replica.kill("SIGKILL");
    await Promise.all(replicas.map(({ exited }) => exited));
  });
  const start = (command: string, hostname: string, nodeArgs: string[] = []): Replica => {
    const replica = startReplica([...nodeArgs, main, command], {
      PATH: process.env.PATH ?? "",
      KUBECONFIG: plane.kubeconfigPath,
      REDIS_URL: redis.url,
      HOSTNAME: hostname,
      BROWSERPOOL_PORT: "0",
      BROWSERPOOL_SYSTEM_NAMESPACE: systemNamespace,
      BROWSERPOOL_DEFAULT_PROJECT: projectId,
      BROWSERPOOL_FILL_RATE_CAP: "6000",
      ...env,
    });
    replicas.push(replica);
    return replica;
  };
  const kept = parts.move();
  return {
    kube,
    dataDir,
    kubeconfigPath: plane.kubeconfigPath,
    redisUrl: redis.url,
    apiKey,
    namespace,
    async startApi(hostname, nodeArgs) {
      const replica = start("api", hostname, nodeArgs);
      const { listen: url = "" } = await replica.logged("api is ready");
      const call: Call = (method, requestPath, body) =>
        fetch(url + requestPath, {
          method,
          headers: {
            authorization: `Bearer ${apiKey}`,
            ...(body !== undefined && { "content-type": "application/json" }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
      return { ...replica, url, call };
    },
    startOperator: (hostname) => start("operator", hostname),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
