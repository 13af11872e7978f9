/**
 * Everything that a run needs, as processes of this machine, started once and used by all of its histories:
 *
 *   clients ─► 2 api ──┬─ a link each (toxiproxy) ─► redis-server; or, without links, Sentinels and servers, or a Cluster
 *              2 operators ─┘
 *                      └─ a door each (relay) ─► kube-apiserver ─► etcd
 *              a node: the agents of all pods, simulated by one process, or each a process with a real browser
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureNamespace } from "../../src/core/bootstrap/system-namespace.ts";
import { localApiKey } from "../../src/local/connection-file.ts";
import { startControlPlane } from "../../src/local/control-plane.ts";
import { crdsSettled, installCrds } from "../../src/local/install-crds.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import { leases } from "../../src/platform/kube/resource-type.ts";
import { testNamespace } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { processNamed } from "../support/processes.ts";
import { startNodeProcess } from "../support/simulated-node/node-process.ts";
import { hookArguments } from "./hook/hook-options.ts";
import type { Recorder } from "./recorder/recorder.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { type BesidePools, startBesidePools } from "./topology/beside-pools.ts";
import { type RobustNode, startChromiumNode } from "./topology/chromium-node.ts";
import { openKubeDoor } from "./topology/kube-door.ts";
import { startLinks } from "./topology/links.ts";
import { normalStarts } from "./topology/normal-starts.ts";
import { startPlainLinks } from "./topology/plain-links.ts";
import { type RedisHost, type RedisHostOptions, type RedisKind, startSingleRedis } from "./topology/redis-host.ts";
import { startClusterRedis, startSentinelRedis } from "./topology/redis-set.ts";
import { createReplica, type Replica } from "./topology/replica.ts";

export type Topology = {
  /** Of the run, past all doors. */
  kube: Kube;
  kubeconfigPath: string;
  /** Of the project that the pools are in. */
  namespace: string;
  apiKey: string;
  redis: RedisHost;
  /** Where all replicas find Redis from now on. */
  aimLinks(port: number): Promise<void>;
  apis: Replica[];
  operators: Replica[];
  /** The operator that holds the lead; any of them while nobody does. */
  leader(): Promise<Replica>;
  /** Pools that nobody uses, if the run has some. */
  beside: BesidePools | undefined;
  node: RobustNode;
  /** Of its object. */
  nodeName: string;
  /** JSON lines, what the agents tell. */
  agentEventsFile: string;
  /** Holds the logs of all parts. */
  logFolder: string;
  /** kill -9; it is started again by its supervisor. Resolves when it answers. */
  restartApiServer(): Promise<void>;
  stop(): Promise<void>;
};

const systemNamespace = "browserpool-system";
const nodeName = "robust";

export type TopologyOptions = {
  bug?: string | undefined;
  /** Real browsers instead of simulated ones. */
  chromium?: boolean;
  /** Left out, a single server. */
  redis?: RedisKind | undefined;
  /** How many browsers of another project are idle meanwhile; left out, none. */
  beside?: number | undefined;
  recorder: Recorder;
};

/** Settings of api and operator that are the same in every run. */
const settings = (projectId: string): Record<string, string> => ({
  BROWSERPOOL_SYSTEM_NAMESPACE: systemNamespace,
  BROWSERPOOL_DEFAULT_PROJECT: projectId,
  BROWSERPOOL_FILL_RATE_CAP: "6000",
  BROWSERPOOL_POOLED_SESSIONS: "20000",
  // Few keys make the load of many callers.
  BROWSERPOOL_KEY_REQUESTS_PER_SECOND: "5000",
  BROWSERPOOL_FAILED_ATTEMPTS_PER_MINUTE: "100000",
  BROWSERPOOL_PROJECT_REQUESTS_PER_SECOND: "5000",
  // Nothing but Redis' memory bounds ended leases, so that a fault can fill it with them.
  BROWSERPOOL_ENDED_LEASES_PER_POOL: "1000000",
  BROWSERPOOL_ENDED_BYTES_PER_POOL: "1000000000",
  BROWSERPOOL_ENDED_LEASES: "1000000",
  BROWSERPOOL_ENDED_BYTES: "1000000000",
  // Clients keep their sockets, so a replica that is told to stop waits all of it, and the history with it.
  BROWSERPOOL_STOP_GRACE_SECONDS: "3",
  BROWSERPOOL_LOG_LEVEL: "info",
});

const startRedis: Record<RedisKind, (options: RedisHostOptions) => Promise<RedisHost>> = {
  single: startSingleRedis,
  sentinel: startSentinelRedis,
  cluster: startClusterRedis,
};

export const startTopology = async ({
  bug,
  chromium = false,
  redis: kind = "single",
  beside: besideCount = 0,
  recorder,
}: TopologyOptions): Promise<Topology> => {
  await using parts = new AsyncDisposableStack();
  const { path: dataDir } = parts.use(await makeScratchFolder("browserpool-robustness"));
  const logFolder = join(dataDir, "logs");
  const agentEventsFile = join(dataDir, "agents.jsonl");
  await mkdir(logFolder);
  const programs = locatePrograms(process.env);
  const redisProgram = programs["redis-server"];
  if (!redisProgram) throw new Error("redis-server is missing: run npm run setup");
  const logOf = (name: string): string => join(logFolder, `${name}.log`);
  const part = async <T extends { stop(): unknown }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    parts.defer(async () => void (await started.stop()));
    return started;
  };

  const plane = await part(
    startControlPlane({ dataDir, programs, log: createLogger("error", "robustness"), unsafeNoFsync: true }),
  );
  const { kubeconfigPath } = plane;
  const redis = await part(
    startRedis[kind]({ folder: dataDir, program: redisProgram, logPath: logOf("redis"), recorder }),
  );
  const target = redis.linkPort;
  const links = await part(
    programs.toxiproxy
      ? startLinks({ program: programs.toxiproxy, folder: dataDir, logPath: logOf("toxiproxy"), target, recorder })
      : Promise.resolve(startPlainLinks(target)),
  );
  const kube = connectKube({ kubeconfigPath });
  parts.defer(() => kube.close());
  await installCrds(kube);
  await crdsSettled(kube);
  await ensureNamespace(kube, systemNamespace);
  const apiKey = await localApiKey({ dataDir, kube, namespace: systemNamespace });
  const { name: namespace, projectId } = await testNamespace(kube);
  const hooked = hookArguments({ ...(bug !== undefined && { bug }) });
  const startNode = (): Promise<RobustNode> =>
    chromium
      ? startChromiumNode({ kube, namespace, nodeName, dataDir, programs, eventsFile: agentEventsFile })
      : startNodeProcess(
          { kubeconfigPath, nodeName, namespace, eventsFile: agentEventsFile, starts: normalStarts },
          { ...hooked, logPath: logOf("simulated-node") },
        );
  const node = await part(startNode());

  const replica = async (role: Replica["role"], letter: string): Promise<Replica> => {
    const name = `${role}-${letter}`;
    const link = await links.add(name);
    const door = await part(openKubeDoor(name, { kubeconfigPath, folder: join(dataDir, "doors") }));
    const made = await part(
      createReplica({
        role,
        name,
        link,
        kube: door,
        env: { ...settings(projectId), ...redis.env(link) },
        folder: join(dataDir, name),
        logPath: logOf(name),
        bug,
        recorder,
      }),
    );
    await made.start();
    return made;
  };
  const apis = await Promise.all([replica("api", "a"), replica("api", "b")]);
  const operators = await Promise.all([replica("operator", "a"), replica("operator", "b")]);
  const startBeside = () =>
    startBesidePools({ count: besideCount, url: apis[0]?.url ?? "", apiKey, kubeconfigPath, logPath: logOf("beside") });
  const beside = besideCount > 0 ? await part(startBeside()) : undefined;
  const kept = parts.move();
  return {
    kube,
    kubeconfigPath,
    namespace,
    apiKey,
    redis,
    aimLinks: links.aim,
    apis,
    operators,
    beside,
    async leader() {
      const ref = { namespace: systemNamespace, name: "browserpool-operator" };
      // Another fault may have the API server away just now.
      const lease = await eventually("the API server tells who leads", () =>
        kube.get(leases, ref).catch(() => undefined),
      );
      const holder = lease.spec?.holderIdentity ?? "";
      return operators.find(({ name }) => holder.startsWith(name)) ?? (operators[0] as Replica);
    },
    node,
    nodeName,
    agentEventsFile,
    logFolder,
    async restartApiServer() {
      const { pid } = await processNamed(dataDir, "kube-apiserver");
      process.kill(pid, "SIGKILL");
      await sleep(100);
      await eventually("the API server answers", () => kube.ready().catch(() => false));
    },
    stop: () => kept.disposeAsync(),
  };
};
