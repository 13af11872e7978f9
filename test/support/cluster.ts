/**
 * The service as it runs in a cluster: a control plane, Redis and a node, with each api and operator in its own
 * process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureNamespace } from "../../src/core/bootstrap/system-namespace.ts";
import { localApiKey } from "../../src/local/connection-file.ts";
import { startControlPlane } from "../../src/local/control-plane.ts";
import { crdsSettled, installCrds } from "../../src/local/install-crds.ts";
import { startLocalKubelet } from "../../src/local/kubelet/local-kubelet.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { startRedis } from "../../src/local/redis.ts";
import { createLogger, type Logger } from "../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import { prepareDataDir, testNamespace } from "./control-plane.ts";
import type { Call } from "./pool-client.ts";

const main = join(import.meta.dirname, "../../src/main.ts");
const systemNamespace = "browserpool-system";

/** The young generation that the image gives the service. */
const nodeAsInImage = "--max-semi-space-size=16";

export type Replica = {
  process: ChildProcess;
  /** Resolves with the first log line that has this message. */
  logged(message: string): Promise<Record<string, string>>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code; null after a kill. */
  exited: Promise<number | null>;
};
export type ApiReplica = Replica & { url: string; call: Call };

/** What a node of the cluster gets at its start. `dataDir`: a folder that is removed with the cluster. */
type NodeParts = { kube: Kube; kubeconfigPath: string; dataDir: string; log: Logger };

export type ClusterOptions = {
  /** Runs the pods. By default each agent is a process with a real browser. */
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
  /** The namespace of the default project. */
  namespace: string;
  /** `nodeArgs`: arguments of Node itself, before the program. */
  startApi(hostname: string, nodeArgs?: string[]): Promise<ApiReplica>;
  /** `env`: variables of this replica alone. */
  startOperator(hostname: string, env?: Record<string, string>): Replica;
  [Symbol.asyncDispose](): Promise<void>;
};

const startReplica = (args: string[], env: Record<string, string>, logFile: string): Replica => {
  const command = args.at(-1);
  // Logs go to a file: reading a pipe would take time from the process that writes.
  const log = openSync(logFile, "a");
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", log] });
  closeSync(log);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const findLine = async (message: string): Promise<Record<string, string> | undefined> =>
    (await readFile(logFile, "utf8"))
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, string>)
      .find(({ msg }) => msg === message);
  return {
    process: child,
    exited,
    kill: (signal) => void child.kill(signal),
    async logged(message) {
      for (;;) {
        const hasExited = child.exitCode !== null || child.signalCode !== null;
        const line = await findLine(message);
        if (line) return line;
        if (hasExited) throw new Error(`${command} ended with ${child.exitCode} before it logged: ${message}`);
        await sleep(25);
      }
    },
  };
};

/** That of the whole test run; outside of vitest, one that goes with the cluster. */
const compileCacheOf = (dataDir: string): string => process.env.NODE_COMPILE_CACHE ?? join(dataDir, "compile-cache");

/** A node whose browsers have no namespaces of their own, as in a pod, which is around them. */
export const startPlainNode = ({ kube, dataDir, log }: NodeParts, more: Record<string, string> = {}) =>
  startLocalKubelet({
    kube,
    dataDir,
    agentCommand: [process.execPath, main],
    agentEnv: {
      PATH: process.env.PATH ?? "",
      NODE_COMPILE_CACHE: compileCacheOf(dataDir),
      BROWSERPOOL_CHROMIUM_HEADLESS: locatePrograms(process.env)["chromium-headless-shell"] ?? "",
      ...more,
    },
    log,
  });

/** As in local mode: a browser with a policy needs files of its own. No port is left out. */
const startBrowserNode = (parts: NodeParts) => startPlainNode(parts, { BROWSERPOOL_OWN_PORTS: "" });

export const startCluster = async ({
  startNode = startBrowserNode,
  env = {},
}: ClusterOptions = {}): Promise<Cluster> => {
  await using parts = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), "bp-"));
  parts.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const programs = locatePrograms(process.env);
  const log = createLogger("warn", "test");
  await prepareDataDir(dataDir);
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
  type Own = { nodeArgs?: string[]; env?: Record<string, string> };
  const start = (command: string, hostname: string, { nodeArgs = [], env: own = {} }: Own = {}): Replica => {
    const logFile = join(dataDir, `${hostname}-${replicas.length}.log`);
    const environment = {
      PATH: process.env.PATH ?? "",
      NODE_COMPILE_CACHE: compileCacheOf(dataDir),
      KUBECONFIG: plane.kubeconfigPath,
      REDIS_URL: redis.url,
      HOSTNAME: hostname,
      BROWSERPOOL_PORT: "0",
      BROWSERPOOL_SYSTEM_NAMESPACE: systemNamespace,
      BROWSERPOOL_DEFAULT_PROJECT: projectId,
      BROWSERPOOL_FILL_RATE_CAP: "6000",
      ...env,
      ...own,
    };
    const replica = startReplica([nodeAsInImage, ...nodeArgs, main, command], environment, logFile);
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
      const replica = start("api", hostname, nodeArgs && { nodeArgs });
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
    startOperator: (hostname, own) => start("operator", hostname, own && { env: own }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
