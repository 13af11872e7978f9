import { type KeyObject, randomUUID } from "node:crypto";
import type { BlobStore } from "../blobs/blob-store.ts";
import { loadAgentMasterKey } from "../bootstrap/agent-master-key.ts";
import { loadSigningKey } from "../bootstrap/signing-key.ts";
import { ensureNamespace } from "../bootstrap/system-namespace.ts";
import type { Config } from "../config.ts";
import { runOnDemandController, runPoolController } from "../controllers/browser-pool/controller.ts";
import { startEndingSavers } from "../controllers/browser-pool/observe/ending-savers.ts";
import { startNodes } from "../controllers/browser-pool/observe/nodes.ts";
import { startReferences } from "../controllers/browser-pool/observe/references.ts";
import { createSessionBook } from "../controllers/browser-pool/observe/session-book.ts";
import { startSessionCaps } from "../controllers/browser-pool/observe/session-caps.ts";
import { startProfileSaves } from "../controllers/browser-pool/on-demand/profile-saves.ts";
import { readPodTemplate } from "../controllers/browser-pool/pod/read-pod-template.ts";
import { runProjectController } from "../controllers/project/controller.ts";
import { type ProjectObjects, readProjectObjects } from "../controllers/project/project-objects.ts";
import { runSessionOutcomesController } from "../controllers/session-outcomes/controller.ts";
import { runSiteAnalysisController } from "../controllers/site-analysis/controller.ts";
import { createAnalyzer } from "../controllers/site-analysis/run.ts";
import { runSiteConfigController } from "../controllers/site-config/controller.ts";
import { createProjectGate, openGate } from "../controllers/start-gate.ts";
import { createDestinationJudge } from "../domain/destination-judge.ts";
import type { NetworkJudge } from "../domain/network-judge.ts";
import type { ProxyProvider } from "../domain/proxy-provider.ts";
import { createHealth } from "../http/ops/health.ts";
import { connectKube } from "../kube/client.ts";
import { type Lead, type LeaderElection, startLeaderElection } from "../kube/leader-election.ts";
import { whileUnreachable } from "../kube/while-unreachable.ts";
import { createAgentClient } from "../leases/agent-client.ts";
import { createEndedLeases } from "../leases/ended-leases.ts";
import { createLeaseStore } from "../leases/lease-store.ts";
import { createLeavingMarks } from "../leases/leaving-marks.ts";
import { createNamesInUse } from "../leases/names-in-use.ts";
import { createProfileClient } from "../leases/profile-client.ts";
import { createRepairStore } from "../leases/repair-store.ts";
import type { Logger } from "../log.ts";
import { createOperatorMetrics } from "../metrics/operator-metrics.ts";
import { createProcessMetrics } from "../metrics/process-metrics.ts";
import { createAgentKeys } from "../protocol/agent-key.ts";
import { createAgentTokens } from "../protocol/agent-token.ts";
import { checkRedis } from "../redis/check-redis.ts";
import { connectRedis, whenReady } from "../redis/connection.ts";
import { memoryUse } from "../redis/memory-use.ts";
import { createSessionNames } from "../redis/session-names.ts";
import { createSetupRequests } from "../redis/setup-requests.ts";
import { createSiteReports } from "../redis/site-reports.ts";
import { originOf } from "../registry/transfer.ts";
import { startOps } from "./ops.ts";
import { type AnalysisParts, readAnalyses } from "./read-analyses.ts";
import { readProxyProvider } from "./read-proxy-provider.ts";
import { runObjectControllers } from "./run-object-controllers.ts";
import { startBlobs } from "./start-blobs.ts";
import { startLimitMs, withinStartLimit } from "./start-limit.ts";

type RunningOperator = {
  isLeader(): boolean;
  /** The URL of probes and metrics; undefined without an ops port. */
  opsUrl: string | undefined;
  stop(): Promise<void>;
};

type OperatorOptions = {
  config: Config;
  /** Default: the usual places. */
  kubeconfigPath?: string;
  /** Aborts a running start. */
  signal?: AbortSignal;
};

/** Below the lease's renew deadline, so that one slow call does not cost the lead, ms. */
const requestTimeoutMs = 5000;

/** How long a connection to an agent is kept, ms: for the steps of one inspection. The next one comes a minute later. */
const agentKeepAliveMs = 4000;

/** The `Lease` object that the leading replica holds. */
export const leaderLease = ({ systemNamespace }: Config): { namespace: string; name: string } => ({
  namespace: systemNamespace,
  name: "browserpool-operator",
});

/** Connects the stores that the controllers need. */
const connectStores = (config: Config, log: Logger) => {
  const redis = connectRedis(config.redisUrl, log);
  const store = createLeaseStore(redis);
  const stores = {
    store,
    repairs: createRepairStore(redis),
    siteReports: createSiteReports(redis),
    leavingMarks: createLeavingMarks(redis),
    names: createSessionNames(redis, store),
    setupRequests: createSetupRequests(redis),
    namesInUse: createNamesInUse(redis),
    endedLeases: createEndedLeases(redis),
    redisMemory: () => memoryUse(redis),
  };
  return { redis, stores };
};

type Work = Omit<
  Parameters<typeof runPoolController>[0],
  | "limits"
  | "endedLimits"
  | "agents"
  | "subscriber"
  | "nodes"
  | "references"
  | "saves"
  | "savers"
  | "gate"
  | "book"
  | "log"
> & {
  config: Config;
  blobs: BlobStore;
  projectObjects: ProjectObjects | undefined;
  proxyProvider: ProxyProvider;
  destinationJudge: NetworkJudge;
  privateKey: KeyObject;
  analyses: AnalysisParts | undefined;
  /** The name under which outcomes of sessions count; undefined: none does. */
  outcomesOrigin: string | undefined;
  log: Logger;
};

/** Runs every controller while this replica leads. */
const lead = async (
  {
    config,
    blobs,
    projectObjects,
    proxyProvider,
    destinationJudge,
    privateKey,
    analyses,
    outcomesOrigin: origin,
    ...shared
  }: Work,
  lead: Lead,
): Promise<void> => {
  const { kube, metrics, log } = shared;
  const subscriber = connectRedis(config.redisUrl, log);
  const tokens = createAgentTokens(privateKey);
  const agents = createAgentClient({ tokens, keys: shared.agentKeys }, { keepAliveMs: agentKeepAliveMs });
  const nodes = startNodes({ kube, log });
  const references = startReferences({ kube, log });
  const profileClient = createProfileClient({ tokens, keys: shared.agentKeys });
  const saves = startProfileSaves({
    kube,
    blobs,
    client: profileClient,
    lead,
    now: Date.now,
    meter: metrics.work,
    log,
  });
  const savers = startEndingSavers({ kube, store: shared.store, isSettled: saves.isSettled, log });
  const gate = createProjectGate();
  const { limits, systemNamespace } = config;
  const organizationSessions = limits.pooledSessions + limits.onDemandSessions;
  const caps = startSessionCaps({ kube, log, systemNamespace, organizationSessions });
  const meter = metrics.work;
  try {
    const deps = {
      ...shared,
      nodes,
      references,
      saves,
      savers,
      agents,
      subscriber,
      gate: projectObjects ? gate : openGate,
      book: createSessionBook({ limits, caps, setAside: analyses?.settings.namespace }),
    };
    await Promise.all([
      runPoolController({ ...deps, limits, endedLimits: config.endedLimits }, lead),
      runOnDemandController({ ...deps, sessionSeconds: limits.sessionSeconds }, lead),
      runObjectControllers({ kube, blobs, proxyProvider, destinationJudge, meter, log }, lead),
      runSiteConfigController({ kube, rules: config.registry, meter, log }, lead),
      runSiteAnalysisController({
        kube,
        blobs,
        analyzer:
          analyses &&
          createAnalyzer({ ...deps, ...analyses, blobs, tokens, keys: shared.agentKeys, now: Date.now, lead }),
        atOnce: analyses?.settings.browsers ?? 1,
        now: Date.now,
        meter,
        lead,
        log,
      }),
      ...(origin
        ? [runSessionOutcomesController({ kube, subscriber, origin, reported: metrics.reported, log }, lead)]
        : []),
      ...(projectObjects ? [runProjectController({ kube, wanted: projectObjects, gate, meter, log }, lead)] : []),
    ]);
  } finally {
    subscriber.disconnect();
    await saves.stop();
    await Promise.all([
      profileClient.close(),
      agents.close(),
      nodes.stop(),
      references.stop(),
      savers.stop(),
      caps.stop(),
    ]);
  }
};

const start = async (
  { config, kubeconfigPath }: OperatorOptions,
  log: Logger,
  signal: AbortSignal,
): Promise<RunningOperator> => {
  const projectObjects = readProjectObjects(config.projectObjectsFile);
  const template = readPodTemplate(config.browserTemplateFile);
  const proxyProvider = readProxyProvider(config);
  await using stack = new AsyncDisposableStack();
  let election: LeaderElection | undefined;
  const isLeader = (): boolean => election?.isLeader() ?? false;
  const health = createHealth({ redis: () => stores.store.ping().then(() => true), kubernetes: () => kube.ready() });
  const { registry, onKubeCall } = createProcessMetrics(health.parts);
  const metrics = createOperatorMetrics(registry, isLeader);
  const kube = connectKube({ requestTimeoutMs, onCall: onKubeCall, ...(kubeconfigPath && { kubeconfigPath }) });
  stack.defer(() => kube.close());
  const { redis, stores } = connectStores(config, log);
  stack.defer(() => redis.disconnect());
  const opsUrl = await startOps({ config, health, registry, log }, stack);

  const namespace = config.systemNamespace;
  const { privateKey, publicKey, master } = await whileUnreachable(
    async () => {
      await ensureNamespace(kube, namespace);
      return { ...(await loadSigningKey({ kube, namespace })), master: await loadAgentMasterKey({ kube, namespace }) };
    },
    { signal, log },
  );
  await whenReady(redis, startLimitMs, signal);
  await checkRedis(redis, log);
  const agentPublicKey = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  const podSettings = { image: config.browserImage, template, agentPublicKey };
  const analyses = await readAnalyses(config, { kube, proxyProvider });
  const { drainDeadlineMs, browserFeatures: features } = config;
  const outcomesOrigin = features.includes("session_outcomes") ? await originOf(kube, namespace) : undefined;
  const keys = { agentKeys: createAgentKeys(master), privateKey };
  const blobs = await startBlobs({ config, log }, stack);
  const work = {
    config,
    kube,
    blobs,
    ...stores,
    projectObjects,
    proxyProvider,
    destinationJudge: createDestinationJudge(config.privateDestinations),
    podSettings,
    features,
    drainDeadlineMs,
    ...keys,
    analyses,
    outcomesOrigin,
    metrics,
    log,
  };
  election = startLeaderElection({
    kube,
    lease: leaderLease(config),
    identity: `${config.replica}-${randomUUID().slice(0, 8)}`,
    lead: (mine) => lead(work, mine),
    log,
  });
  const { stop } = election;
  stack.defer(stop);
  health.setRunning(true);
  const kept = stack.move();
  return {
    isLeader,
    opsUrl,
    async stop() {
      health.setRunning(false);
      await kept.disposeAsync();
    },
  };
};

/** Starts the controllers; they work while this replica leads. Waits up to a minute for Kubernetes and Redis. */
export const startOperator = (options: OperatorOptions, log: Logger): Promise<RunningOperator> =>
  withinStartLimit(options.signal, (signal) => start(options, log, signal));
