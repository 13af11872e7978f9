/**
 * `browserpool local`: everything on one machine, started in this order and stopped in the reverse one:
 *
 *   data directory (lock, leftovers) ──► etcd, kube-apiserver, Redis ──► CRDs, default project, key ──► local kubelet
 *   ──► operator ──► api ──► local.json and the banner
 */
import { mkdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureNamespace } from "../core/bootstrap/system-namespace.ts";
import { type Config, readConfig } from "../core/config/config.ts";
import { agentPort } from "../core/pools/pod/pod.ts";
import type { RunningLocal } from "../local/banner.ts";
import { compileAgent } from "../local/compile-cache.ts";
import { headerFileIn, localApiKey, removeConnection, writeConnection } from "../local/connection-file.ts";
import { startControlPlane } from "../local/control-plane.ts";
import { lockDataDir } from "../local/data-dir-lock.ts";
import { freePort } from "../local/free-port.ts";
import { crdsSettled, installCrds } from "../local/install-crds.ts";
import { startLocalKubelet } from "../local/kubelet/local-kubelet.ts";
import { createPodUsers, type PodUsers } from "../local/kubelet/pod-user.ts";
import { endLeftovers } from "../local/leftovers.ts";
import { localFeatures, mayGetNamespaces, whyNoSandbox } from "../local/local-features.ts";
import { locatePrograms, type Programs } from "../local/locate-programs.mjs";
import { startRedis } from "../local/redis.ts";
import { requireSpace } from "../local/required-space.ts";
import { loopbackRanges, privateRanges } from "../platform/addresses/host-pattern.ts";
import { environment } from "../platform/base/environment.ts";
import { createLogger, type Logger } from "../platform/base/log.ts";
import { connectKube, type Kube } from "../platform/kube/client.ts";
import { leases, namespaces } from "../platform/kube/resource-type.ts";
import { startApi } from "./api.ts";
import { makeDemoPool } from "./demo-pool.ts";
import { leaderLease, startOperator } from "./operator.ts";
import { readAnalysisSettings } from "./read-analyses.ts";

type LocalOptions = {
  /** The port of the API, 0 for any free one. Called when no other process has the data directory. */
  choosePort(): Promise<number>;
  /** Absolute. */
  dataDir: string;
  /** Whether to remove the data of former runs first. */
  fresh: boolean;
  /** Whether to make a pool where there is none. */
  demo: boolean;
  /** The program and the script that agents are started with. */
  agentCommand: readonly [string, ...string[]];
  /** Prints a line about each step. */
  say: (line: string) => void;
};

/**
 * The limits of local mode: a demo pool may fill at once, and one machine has no room for more browsers. Its user may
 * ask the network of the machine, so checks may find proxies there, and telemetry go there.
 */
const localLimits = {
  BROWSERPOOL_POOLED_SESSIONS: "50",
  BROWSERPOOL_FILL_RATE_CAP: "6000",
  BROWSERPOOL_PROXY_CHECK_PRIVATE_HOSTS: [...loopbackRanges, ...privateRanges].join(","),
  BROWSERPOOL_TELEMETRY_PRIVATE_DESTINATIONS: [...loopbackRanges, ...privateRanges].join(","),
};

/** Local mode has one port, and no other replica to which callers could go when it stops. */
const localSettings = { BROWSERPOOL_OPS_PORT: undefined, BROWSERPOOL_STOP_GRACE_SECONDS: "1" };

/** Of the default project, and of kubectl without options. */
const defaultNamespace = "default";

type LocalPlaces = { port: number; redisUrl: string; dataDir: string; features: readonly string[] };

/** The audit stream has a file, because the banner is on stdout. */
const localConfig = ({ port, redisUrl, dataDir, features }: LocalPlaces): Config =>
  readConfig(
    { ...localSettings, BROWSERPOOL_PORT: String(port), REDIS_URL: redisUrl },
    {
      ...localLimits,
      BROWSERPOOL_AUDIT_LOG: join(dataDir, "logs", "audit.log"),
      BROWSERPOOL_BROWSER_FEATURES: features.join(","),
      BROWSERPOOL_CONSOLE: "on",
      BROWSERPOOL_BLOBS: pathToFileURL(join(dataDir, "blobs")).href,
    },
  );

/** Further variables of every agent, beside its pod's own. */
const agentEnvironment = (
  programs: Programs,
  config: Config,
  {
    compileCache,
    hasSandbox,
    ownPorts,
  }: { compileCache: string; hasSandbox: boolean; ownPorts: readonly number[] | undefined },
): Record<string, string> => ({
  PATH: environment.PATH ?? "",
  BROWSERPOOL_CHROMIUM_SANDBOX: String(hasSandbox),
  BROWSERPOOL_LOG_LEVEL: config.logLevel,
  BROWSERPOOL_PROCESSES: String(config.processes),
  ...(ownPorts && { BROWSERPOOL_OWN_PORTS: ownPorts.join(",") }),
  // All agents share it: that halves their start-up time and saves each about 25 MB.
  NODE_COMPILE_CACHE: compileCache,
  ...(environment.BROWSERPOOL_TEST_EXAMPLE_ADDRESS && {
    BROWSERPOOL_TEST_EXAMPLE_ADDRESS: environment.BROWSERPOOL_TEST_EXAMPLE_ADDRESS,
  }),
  ...(programs.chromium && { BROWSERPOOL_CHROMIUM: programs.chromium }),
  ...(programs["chromium-headless-shell"] && { BROWSERPOOL_CHROMIUM_HEADLESS: programs["chromium-headless-shell"] }),
  ...(programs.Xvfb && { BROWSERPOOL_XVFB: programs.Xvfb }),
  ...(programs.ffmpeg && { BROWSERPOOL_FFMPEG: programs.ffmpeg }),
  ...(programs.chromedriver && { BROWSERPOOL_CHROMEDRIVER: programs.chromedriver }),
});

/** Creates the objects that `api`, `operator` and the local kubelet need at their start. */
const prepareCluster = async (kube: Kube, config: Config): Promise<void> => {
  const labels = { "browserpool.dev/project": config.defaultProject };
  const trials = readAnalysisSettings(config.sites.analysesFile)?.namespace;
  await Promise.all([
    installCrds(kube),
    ensureNamespace(kube, config.systemNamespace),
    kube.patch(namespaces, { name: defaultNamespace }, { metadata: { labels } }),
    ...(trials ? [ensureNamespace(kube, trials, { "browserpool.dev/project": trials })] : []),
    // A data directory has only one operator, so it need not wait until a killed run's lease expires.
    kube.delete(leases, leaderLease(config)),
  ]);
};

/** Starts all parts. Disposing of `stack` ends them, also when the start fails half-way. */
const startAll = async (
  options: LocalOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<RunningLocal> => {
  const { dataDir, fresh, agentCommand, say } = options;
  const lock = await lockDataDir(dataDir);
  stack.defer(() => lock.release());
  await endLeftovers(dataDir, lock);
  if (fresh) await removeData(dataDir);
  await requireSpace(dataDir);
  // Agents are told of the port before the API listens.
  const port = (await options.choosePort()) || ((await freePort("127.0.0.1")) ?? 0);
  const logFolder = join(dataDir, "logs");
  await mkdir(logFolder, { recursive: true, mode: 0o700 });
  const programs = locatePrograms();
  const logFor = (service: string): Logger =>
    createLogger(readConfig().logLevel, service, join(logFolder, "browserpool.log"));
  const log = logFor("local");

  say("starting etcd, kube-apiserver and Redis");
  const { controlPlane, redis } = await startServers({ dataDir, programs, log, signal }, stack);
  const compileCache = join(dataDir, "compile-cache");
  const compiled = compileAgent(agentCommand, compileCache, signal).catch((err: unknown) => {
    // Agents then start more slowly.
    if (!signal.aborted) log.warn({ err }, "the agent could not be compiled");
  });
  const users = await podUsers(programs, agentCommand, compileCache);
  const { kubeconfigPath, serverUrl } = controlPlane;
  const noSandbox = users ? undefined : await whyNoSandbox();
  const isApart = users !== undefined || (await mayGetNamespaces());
  const config = localConfig({ port, redisUrl: redis.url, dataDir, features: localFeatures(isApart) });

  say("starting the node, the operator and the API");
  const ownPorts = [port, agentPort, ...[redis.url, serverUrl].map((url) => Number(new URL(url).port))];
  const agentEnv = agentEnvironment(programs, config, {
    compileCache,
    hasSandbox: noSandbox === undefined,
    ownPorts: isApart ? ownPorts : undefined,
  });
  const kube = connectKube({ kubeconfigPath });
  stack.defer(() => kube.close());
  await prepareCluster(kube, config);
  const apiKey = await localApiKey({ dataDir, kube, namespace: config.systemNamespace });
  const node = await startLocalKubelet({ kube, dataDir, agentCommand, agentEnv, users, compiled, log });
  stack.defer(() => node.stop());
  const operator = await startOperator({ config, kubeconfigPath, signal }, logFor("operator"));
  stack.defer(() => operator.stop());
  const api = await startApi({ config, kubeconfigPath, signal }, logFor("api"));
  stack.defer(() => api.stop());
  await crdsSettled(kube);

  const url = reachable(api.url);
  const connection = {
    url,
    api_key: apiKey,
    kubeconfig: kubeconfigPath,
    redis_url: redis.url,
    pid: process.pid,
  };
  await writeConnection(dataDir, connection);
  stack.defer(() => removeConnection(dataDir));
  const demoPool = options.demo ? await makeDemoPool(kube, defaultNamespace) : undefined;
  const container = environment.BROWSERPOOL_CONTAINER ? hostname() : undefined;
  return { url, apiKey, headerFile: headerFileIn(dataDir), logFolder, demoPool, noSandbox, isApart, container };
};

/** The URL for callers on this machine of an API that may listen on all addresses. */
const reachable = (url: string): string => url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");

/** Users for the pods, where this is root and can have them. */
const podUsers = (
  { chromium, "chromium-headless-shell": shell, Xvfb, ffmpeg, chromedriver }: Programs,
  agentCommand: LocalOptions["agentCommand"],
  compileCache: string,
): Promise<PodUsers | undefined> =>
  createPodUsers({ agentCommand, programs: [chromium, shell, Xvfb, ffmpeg, chromedriver], compileCache });

const removeData = async (dataDir: string): Promise<void> => {
  for (const name of ["etcd", "redis", "pods", "blobs", "api-key", "logs"])
    await rm(join(dataDir, name), { recursive: true, force: true });
};

type Servers = { dataDir: string; programs: Programs; log: Logger; signal: AbortSignal };

const startServers = async (servers: Servers, stack: AsyncDisposableStack) => {
  const started = await Promise.allSettled([startControlPlane(servers), startRedis(servers)]);
  for (const server of started) if (server.status === "fulfilled") stack.defer(() => server.value.stop());
  const [controlPlane, redis] = started;
  if (controlPlane.status === "rejected") throw controlPlane.reason;
  if (redis.status === "rejected") throw redis.reason;
  return { controlPlane: controlPlane.value, redis: redis.value };
};

/** Runs local mode until `signal` is aborted; calls `onReady` when it can be used. */
export const runLocal = async (
  options: LocalOptions,
  onReady: (running: RunningLocal) => void,
  signal: AbortSignal,
): Promise<void> => {
  await using stack = new AsyncDisposableStack();
  const stopped = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => stopped.resolve(), { once: true });
  try {
    onReady(await startAll(options, stack, signal));
    if (!signal.aborted) await stopped.promise;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  options.say("stopping");
};
