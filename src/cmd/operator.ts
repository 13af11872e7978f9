import { type KeyObject, randomUUID } from "node:crypto";
import { loadAgentMasterKey, loadSigningKey } from "../core/bootstrap/installation-keys.ts";
import { requireOnlyInstallation } from "../core/bootstrap/one-installation.ts";
import { ensureNamespace } from "../core/bootstrap/system-namespace.ts";
import type { Config } from "../core/config/config.ts";
import { createHealth } from "../core/http/ops/health.ts";
import { createAgentClient } from "../core/leases/agent/agent-client.ts";
import { createEndedLeases } from "../core/leases/ended-leases.ts";
import { endedSession } from "../core/leases/ended-session.ts";
import { createLeaseStore } from "../core/leases/lease-store.ts";
import { createLeavingMarks } from "../core/leases/leaving-marks.ts";
import { createNamesInUse } from "../core/leases/names-in-use.ts";
import type { OnLeaseEnded } from "../core/leases/records.ts";
import { createRepairStore } from "../core/leases/repair-store.ts";
import { createOperatorMetrics } from "../core/metrics/operator-metrics.ts";
import { createSessionMetrics, type SessionMetrics } from "../core/metrics/session-metrics.ts";
import { runOnDemandController, runPoolController } from "../core/pools/controller.ts";
import { createAcceptedSessions } from "../core/pools/observe/accepted-sessions.ts";
import { startEndingSavers } from "../core/pools/observe/ending-savers.ts";
import { startNodes } from "../core/pools/observe/nodes.ts";
import { startReferences } from "../core/pools/observe/references.ts";
import { startSessionCaps } from "../core/pools/observe/session-caps.ts";
import { readPodTemplate } from "../core/pools/pod/read-pod-template.ts";
import { resizableTemplate } from "../core/pools/pod/resizable-template.ts";
import { runProjectController } from "../core/projects/controller.ts";
import { type ProjectObjects, readProjectObjects } from "../core/projects/project-objects.ts";
import { createAgentKeys } from "../core/protocol/agent-key.ts";
import { createAgentTokens } from "../core/protocol/agent-token.ts";
import { runObjectControllers } from "../core/reconcile/run-object-controllers.ts";
import { createProjectGate, openGate } from "../core/reconcile/start-gate.ts";
import { createSessionNames } from "../core/reservations/session-names.ts";
import { createSetupRequests } from "../core/setups/setup-requests.ts";
import { createProfileClient } from "../features/profiles/profile-client.ts";
import { startProfileSaves } from "../features/profiles/profile-saves.ts";
import { noteProfileUse } from "../features/profiles/profile-versions.ts";
import type { ProxyProvider } from "../features/proxies/rules/proxy-provider.ts";
import { runSiteAnalysisController } from "../features/sites/analyses/controller.ts";
import { createAnalyzer } from "../features/sites/analyses/run.ts";
import { runSiteConfigController } from "../features/sites/configs/controller.ts";
import { runSessionOutcomesController } from "../features/sites/outcomes/controller.ts";
import { createSessionReport, createSiteReports } from "../features/sites/site-reports.ts";
import { originOf } from "../features/sites/transfer.ts";
import { createDestinationFilter } from "../features/telemetry/destinations/rules/destination-problems.ts";
import type { NetworkFilter } from "../platform/addresses/network-filter.ts";
import type { Logger } from "../platform/base/log.ts";
import type { BlobStore } from "../platform/blobs/blob-store.ts";
import { connectKube } from "../platform/kube/client.ts";
import { whileUnreachable } from "../platform/kube/kube-error.ts";
import { type Lead, type LeaderElection, startLeaderElection } from "../platform/kube/leader-election.ts";
import { createProcessMetrics, type ProcessMetrics } from "../platform/metrics/process-metrics.ts";
import { checkRedis } from "../platform/redis/check-redis.ts";
import { connectRedis, whenReady } from "../platform/redis/connection.ts";
import { memoryUse } from "../platform/redis/memory-use.ts";
import { controllers } from "./features.ts";
import { followMetrics } from "./follow-metrics.ts";
import { startLimitMs, startOps, withinStartLimit } from "./program.ts";
import { type AnalysisParts, readAnalyses } from "./read-analyses.ts";
import { readProxyProvider } from "./read-proxy-provider.ts";
import { startBlobs } from "./start-blobs.ts";
import { startTracing } from "./start-tracing.ts";

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

/**
 * How long a connection to an agent is kept, ms: for the steps of one inspection. The next one comes a minute later.
 */
const agentKeepAliveMs = 4000;

/** The `Lease` object that the leading replica holds. */
export const leaderLease = ({ systemNamespace }: Config): { namespace: string; name: string } => ({
  namespace: systemNamespace,
  name: "browserpool-operator",
});

type StoreParts = Pick<ProcessMetrics, "onRedisCommand"> & {
  config: Config;
  sessionMetrics: Pick<SessionMetrics, "ended">;
  log: Logger;
};

/** Connects the stores that the controllers need. */
const connectStores = ({ config, sessionMetrics, onRedisCommand, log }: StoreParts) => {
  const redis = connectRedis(config.redisUrl, log, onRedisCommand);
  const onEnded: OnLeaseEnded = (lease, reason) => sessionMetrics.ended(endedSession(lease, reason, Date.now()));
  const store = createLeaseStore(redis, onEnded);
  const stores = {
    store,
    repairs: createRepairStore(redis, onEnded),
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
  | "acceptedSessions"
  | "log"
> & {
  config: Config;
  blobs: BlobStore;
  projectObjects: ProjectObjects | undefined;
  proxyProvider: ProxyProvider;
  destinationFilter: NetworkFilter;
  privateKey: KeyObject;
  analyses: AnalysisParts | undefined;
  /** The name under which outcomes of sessions count; undefined: none does. */
  outcomesOrigin: string | undefined;
  sessionMetrics: SessionMetrics;
  log: Logger;
};

/** Runs every controller while this replica leads. */
const lead = async (
  {
    config,
    blobs,
    projectObjects,
    proxyProvider,
    destinationFilter,
    privateKey,
    analyses,
    outcomesOrigin: origin,
    sessionMetrics,
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
  const pullSecrets = { namespace: systemNamespace, names: config.pullSecrets };
  const organizationSessions = limits.pooledSessions + limits.onDemandSessions;
  const caps = startSessionCaps({ kube, log, systemNamespace, organizationSessions });
  const meter = metrics.work;
  const acceptedSessions = createAcceptedSessions({ limits, caps, setAside: analyses?.settings.namespace });
  const stopMetrics = followMetrics({ limits, caps, acceptedSessions, metrics, sessionMetrics });
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
      acceptedSessions,
    };
    await Promise.all([
      runPoolController({ ...deps, limits, endedLimits: config.endedLimits }, lead),
      runOnDemandController(
        { ...deps, sessionSeconds: limits.sessionSeconds, keepsFiles: config.keptFiles.seconds > 0 },
        lead,
      ),
      runObjectControllers(
        {
          ...{ controllers, parts: { blobs, proxyProvider, destinationFilter }, kube, meter, log },
          countObjects: metrics.lead.countObjects,
        },
        lead,
      ),
      runSiteConfigController({ kube, rules: config.sites, meter, log }, lead),
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
      ...(projectObjects
        ? [runProjectController({ kube, wanted: projectObjects, pullSecrets, gate, meter, log }, lead)]
        : []),
    ]);
  } finally {
    stopMetrics();
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
  const wantedTemplate = readPodTemplate(config.browserTemplateFile);
  const proxyProvider = readProxyProvider(config);
  await using stack = new AsyncDisposableStack();
  let election: LeaderElection | undefined;
  const isLeader = (): boolean => election?.isLeader() ?? false;
  const health = createHealth({ redis: () => stores.store.ping().then(() => true), kubernetes: () => kube.ready() });
  const processMetrics = createProcessMetrics(health.parts);
  const { registry, onKubeCall, onRedisCommand, onBlobCall } = processMetrics;
  const metrics = createOperatorMetrics(registry, isLeader, { most: config.metricsPools });
  const sessionMetrics = createSessionMetrics(registry, { most: config.metricsPools });
  const kube = connectKube({ requestTimeoutMs, onCall: onKubeCall, ...(kubeconfigPath && { kubeconfigPath }) });
  stack.defer(() => kube.close());
  const { redis, stores } = connectStores({ config, sessionMetrics, onRedisCommand, log });
  stack.defer(() => redis.disconnect());
  const opsUrl = await startOps({ config, health, registry, log }, stack);

  const namespace = config.systemNamespace;
  const { privateKey, publicKey, master, template } = await whileUnreachable(
    async () => {
      await requireOnlyInstallation({ kube, namespace });
      await ensureNamespace(kube, namespace);
      return {
        ...(await loadSigningKey({ kube, namespace })),
        master: await loadAgentMasterKey({ kube, namespace }),
        template: await resizableTemplate(wantedTemplate, { kube, log }),
      };
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
  const blobs = await startBlobs({ config, meter: onBlobCall, log }, stack);
  const tracer = await startTracing({ ...processMetrics, config, service: "browserpool-operator" }, stack);
  const work = {
    config,
    tracer,
    kube,
    blobs,
    ...stores,
    projectObjects,
    proxyProvider,
    destinationFilter: createDestinationFilter(config.privateDestinations),
    podSettings,
    noteProfileUse,
    reportOf: createSessionReport(kube),
    features,
    drainDeadlineMs,
    ...keys,
    analyses,
    outcomesOrigin,
    metrics,
    sessionMetrics,
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
