import { randomUUID } from "node:crypto";
import { startApiKeys } from "../core/api-keys/api-keys.ts";
import { leaveInitialKey } from "../core/bootstrap/initial-key.ts";
import { loadAgentMasterKey, loadSigningKey } from "../core/bootstrap/installation-keys.ts";
import { ensureNamespace } from "../core/bootstrap/system-namespace.ts";
import type { Config } from "../core/config/config.ts";
import { createAbandonedSessions } from "../core/leases/abandoned-sessions.ts";
import { createAgentClient, quickConnectMs } from "../core/leases/agent/agent-client.ts";
import { createAgentExchanges } from "../core/leases/agent/agent-exchange.ts";
import { type AgentStreams, createAgentStreams } from "../core/leases/agent/agent-stream.ts";
import { createSetupClient, type SetupClientDeps } from "../core/leases/agent/setup-client.ts";
import { createEndedLeases } from "../core/leases/ended-leases.ts";
import { startGrants } from "../core/leases/grants.ts";
import { createLeasePages } from "../core/leases/lease-pages.ts";
import type { LeaseStore } from "../core/leases/lease-store.ts";
import { createNamesComplete } from "../core/leases/names-in-use.ts";
import { createReturningBrowsers } from "../core/leases/returning-browsers.ts";
import { type ApiMetrics, createApiMetrics } from "../core/metrics/api-metrics.ts";
import { createPoolMetrics, type PoolCounts, type PoolFigures } from "../core/metrics/pool-metrics.ts";
import type { SessionMetrics } from "../core/metrics/session-metrics.ts";
import type { Owners } from "../core/metrics/session-series.ts";
import { browserKind } from "../core/model/browsers/browser.ts";
import { type BrowserPool, browserPoolKind } from "../core/model/pools/browser-pool.ts";
import { presentSize } from "../core/model/pools/pool-size.ts";
import { kubeForRequests } from "../core/objects/kube-for-requests.ts";
import { startWatchedObjects } from "../core/objects/watched-objects.ts";
import { createPolicyReader } from "../core/policies/policy-reader.ts";
import { createCallerLimits } from "../core/projects/caller-limits.ts";
import type { OrganizationUse } from "../core/projects/organization-limits.ts";
import { type Projects, startProjects } from "../core/projects/projects.ts";
import { createAgentKeys } from "../core/protocol/agent-key.ts";
import { createAgentTokens } from "../core/protocol/agent-token.ts";
import { createSessionNames } from "../core/reservations/session-names.ts";
import { createSessionRoom } from "../core/reservations/session-room.ts";
import { createAbandonedBrowsers } from "../core/sessions/abandoned-browsers.ts";
import { createDeliveries } from "../core/setups/deliver-setups.ts";
import type { Referents } from "../core/setups/referents.ts";
import { createSetupRequests, followSetupRequests } from "../core/setups/setup-requests.ts";
import { createConsoleCodes } from "../features/console/console-codes.ts";
import { createEventFeeds, type EventFeeds } from "../features/events/feeds.ts";
import type { Extension } from "../features/extensions/extension.ts";
import { storedArchive } from "../features/extensions/extensions.ts";
import { startFilesCollector } from "../features/files/files-collector.ts";
import { createLeftClient } from "../features/files/left-client.ts";
import { createStoredFilesStore, type KeptFileParts } from "../features/files/stored-files.ts";
import { createStoredIndexes } from "../features/files/stored-index.ts";
import { startCachedProfiles } from "../features/profiles/cached-profiles.ts";
import { findContents } from "../features/profiles/find-contents.ts";
import type { Profile } from "../features/profiles/profile.ts";
import { createSessionProfile } from "../features/profiles/session-profile.ts";
import type { WebProxy } from "../features/proxies/proxy.ts";
import { createProxyChecks } from "../features/proxies/proxy-checks.ts";
import { openParentProxy } from "../features/proxies/proxy-secret.ts";
import { createRecordingClient } from "../features/recordings/agent-client.ts";
import { startRecordingCollector } from "../features/recordings/recording-collector.ts";
import { createRecordingStore } from "../features/recordings/recording-store.ts";
import type { RecordingParts } from "../features/recordings/recordings.ts";
import { siteAnalysisKind } from "../features/sites/analyses/site-analysis.ts";
import { startSiteIndex } from "../features/sites/site-index.ts";
import { createSessionReport, createSiteReports } from "../features/sites/site-reports.ts";
import { type CollectorDeps, startTelemetryCollector } from "../features/telemetry/collector.ts";
import { createDestinationFilter } from "../features/telemetry/destinations/rules/destination-problems.ts";
import { createExportCursors, createExportResults } from "../features/telemetry/export-state.ts";
import { createExports } from "../features/telemetry/exports.ts";
import { createSessionWatches } from "../features/telemetry/session-watch.ts";
import { createTelemetryStore, type TelemetryParts } from "../features/telemetry/telemetry-store.ts";
import { authConnectionKind } from "../features/vaults/connections/auth-connection.ts";
import { saveLogin } from "../features/vaults/connections/collect-login.ts";
import { createItemEvents } from "../features/vaults/items/item-events.ts";
import { createFlowStore } from "../features/vaults/own-logins/flow-store.ts";
import { startLoginChecks } from "../features/vaults/own-logins/login-checks.ts";
import { type OwnLogins, type SaveLogin, startOwnLogins } from "../features/vaults/own-logins/own-logins.ts";
import { createProviderLookups } from "../features/vaults/providers/lookups.ts";
import { vaultKind } from "../features/vaults/vault.ts";
import { type AuditLineStore, createAuditLineStore } from "../platform/audit/audit-line-store.ts";
import type { Logger } from "../platform/base/log.ts";
import type { Kube } from "../platform/kube/client.ts";
import { whileUnreachable } from "../platform/kube/kube-error.ts";
import { startReflector } from "../platform/kube/reflector.ts";
import type { ProcessMetrics } from "../platform/metrics/process-metrics.ts";
import { createResolveName } from "../platform/net/resolve-name.ts";
import { checkRedis } from "../platform/redis/check-redis.ts";
import { createCollectClaims } from "../platform/redis/collect-claims.ts";
import { connectRedis, connectSubscriber, type RedisConnection, whenReady } from "../platform/redis/connection.ts";
import { createLocks } from "../platform/redis/locks.ts";
import { memoryUse } from "../platform/redis/memory-use.ts";
import { readSecretsKeys } from "../platform/secrets/sealing.ts";
import { announced, contents } from "./features.ts";
import { startLimitMs } from "./program.ts";
import { readAnalysisSettings } from "./read-analyses.ts";
import { readProxyProvider } from "./read-proxy-provider.ts";
import type { ServiceDeps } from "./service-deps.ts";
import { startBlobs } from "./start-blobs.ts";
import { startTracing } from "./start-tracing.ts";

type ApiParts = {
  config: Config;
  kube: Kube;
  redis: RedisConnection;
  store: LeaseStore;
  metrics: ProcessMetrics;
  sessionMetrics: SessionMetrics;
  log: Logger;
};

const countsOf = (pool: BrowserPool): PoolCounts => {
  const { available = 0, acquired = 0, starting = 0, waiting = 0 } = pool.status ?? {};
  return { size: presentSize(pool), available, acquired, starting, waiting };
};

const totals = (pools: BrowserPool[]): PoolCounts =>
  pools.map(countsOf).reduce(
    (sum, one) => ({
      size: sum.size + one.size,
      available: sum.available + one.available,
      acquired: sum.acquired + one.acquired,
      starting: sum.starting + one.starting,
      waiting: sum.waiting + one.waiting,
    }),
    { size: 0, available: 0, acquired: 0, starting: 0, waiting: 0 },
  );

const poolFigures = ({ pools, projects }: { pools: { list(): BrowserPool[] }; projects: Projects }): PoolFigures[] => {
  const idOf = new Map(projects.list().map(({ namespace, id }) => [namespace, id]));
  return pools.list().flatMap((pool) => {
    const { metadata, spec, status } = pool;
    const project = idOf.get(metadata.namespace);
    if (project === undefined) return [];
    return {
      ...countsOf(pool),
      key: metadata.uid,
      project,
      pool: spec.name ?? metadata.name,
      createdAt: metadata.creationTimestamp ?? "",
      outdated: { image: status?.outdatedPods ?? 0, configuration: status?.outdated ?? 0 },
      chromium: status?.chromiumVersions ?? [],
    };
  });
};

/** The pools and projects that metrics name. */
const metricOwners = (caches: Parameters<typeof poolFigures>[0]): Owners => ({
  pools: () =>
    poolFigures(caches).map(({ key, createdAt, project, pool }) => ({ key, createdAt, labels: { project, pool } })),
  projects: () => caches.projects.list().map(({ id, createdAt }) => ({ key: id, createdAt, labels: { project: id } })),
});

/** Starts the watches that keep copies of the organization's objects, until `stack` is disposed of. */
const startCaches = (
  { kube, config, log }: ApiParts,
  { setAside }: { setAside: string | undefined },
  stack: AsyncDisposableStack,
) => {
  const caches = {
    projects: startProjects({ kube, setAside, log }),
    profiles: startCachedProfiles({ kube, log }),
    apiKeys: startApiKeys({ kube, namespace: config.systemNamespace, log }),
    pools: startWatchedObjects({ kube, type: browserPoolKind, log }),
    browsers: startWatchedObjects({ kube, type: browserKind, log }),
    sites: startSiteIndex({ kube, log }),
    analyses: startReflector({ kube, type: siteAnalysisKind, onChange: () => undefined, log }),
  };
  for (const cache of Object.values(caches)) stack.defer(() => cache.stop());
  return caches;
};

type DeliveryParts = { redis: RedisConnection; subscriber: RedisConnection; services: ServiceDeps };

/** Starts to give waiting browsers their setup, until `stack` is disposed of. */
const startDeliveries = async (
  { redis, subscriber, services }: DeliveryParts,
  stack: AsyncDisposableStack,
): Promise<void> => {
  const deliveries = createDeliveries({ ...services, setupRequests: createSetupRequests(redis) });
  stack.defer(() => deliveries.stop());
  await followSetupRequests(subscriber, deliveries.take, services.log);
};

type TelemetryDeps = Pick<CollectorDeps, "store" | "pools" | "browsers" | "projects" | "config" | "log"> &
  Pick<ServiceDeps, "destinationFilter" | "exportResults" | "kube" | "secretsKeys" | "metrics"> & {
    replica: string;
    streams: AgentStreams;
  };

/**
 * Starts to collect telemetry, until `stack` is disposed of. It has a connection to Redis of its own: what callers wait
 * for must not queue behind it.
 */
const startTelemetry = async (
  { replica, streams, metrics, ...deps }: TelemetryDeps,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<TelemetryParts> => {
  const redis = connectRedis(deps.config.redisUrl, deps.log);
  stack.defer(() => redis.disconnect());
  await whenReady(redis, startLimitMs, signal);
  const events = createTelemetryStore(redis);
  const claims = createCollectClaims(redis, replica, "telemetry");
  const exports = createExports({
    ...deps,
    events,
    cursors: createExportCursors(redis),
    resolve: createResolveName(),
    now: Date.now,
    onDropped: (count, reason) => metrics.telemetryDropped.inc({ reason }, count),
  });
  const parts = { ...deps, events, streams, claims, exports };
  const collector = startTelemetryCollector({ ...parts, memoryUse: () => memoryUse(redis) });
  stack.defer(() => collector.stop());
  return { events, collector, watches: createSessionWatches({ ...deps, events, claims }) };
};

/** Opens the recent audit lines, until `stack` is disposed of, over a connection of their own, as telemetry has one. */
const openAuditLines = async (
  { config, log }: Pick<ApiParts, "config" | "log">,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<AuditLineStore> => {
  const redis = connectRedis(config.redisUrl, log);
  stack.defer(() => redis.disconnect());
  await whenReady(redis, startLimitMs, signal);
  return createAuditLineStore(redis, config.systemNamespace);
};

type CollectingDeps = Pick<ServiceDeps, "store" | "pools" | "browsers" | "blobs" | "config" | "log"> &
  Pick<ServiceDeps, "agentTokens" | "agentKeys" | "agentStreams"> & { redis: RedisConnection; replica: string };

/** Starts to collect recordings and the files that sessions leave, until `stack` is disposed of. */
const startCollectors = (
  deps: CollectingDeps,
  stack: AsyncDisposableStack,
): { recordings: RecordingParts; keptFiles: KeptFileParts } => ({
  recordings: startRecordings(deps, stack),
  keptFiles: startKeptFiles(deps, stack),
});

const startRecordings = (
  { redis, replica, agentTokens, agentKeys, agentStreams, ...deps }: CollectingDeps,
  stack: AsyncDisposableStack,
): RecordingParts => {
  const client = createRecordingClient({ tokens: agentTokens, keys: agentKeys }, agentStreams);
  stack.defer(() => client.close());
  const records = createRecordingStore(redis);
  const claims = createCollectClaims(redis, replica, "replays");
  const collector = startRecordingCollector({ ...deps, records, client, claims });
  stack.defer(() => collector.stop());
  return { records, client, collector };
};

const startKeptFiles = (
  { redis, replica, agentTokens, agentKeys, agentStreams, ...deps }: CollectingDeps,
  stack: AsyncDisposableStack,
): KeptFileParts => {
  const client = createLeftClient({ tokens: agentTokens, keys: agentKeys }, agentStreams);
  stack.defer(() => client.close());
  const records = createStoredFilesStore(redis);
  const claims = createCollectClaims(redis, replica, "files");
  const collector = startFilesCollector({ ...deps, records, client, claims });
  stack.defer(() => collector.stop());
  return { records, claims, collector, indexes: createStoredIndexes(deps.blobs) };
};

type LoginParts = { services: Omit<ServiceDeps, "ownLogins">; redis: RedisConnection; replica: string };

/** Starts to do logins and to check them, until `stack` is disposed of. */
const startLogins = ({ services, redis, replica }: LoginParts, stack: AsyncDisposableStack): OwnLogins => {
  const { kube, config, log } = services;
  const deps = { ...services, replica, flows: createFlowStore(redis, config.systemNamespace) };
  const claims = createCollectClaims(redis, replica, "logins");
  const save: SaveLogin = (connection, input) => saveLogin(connection, input, services);
  const ownLogins = startOwnLogins(deps, { claims, saveLogin: save });
  const connections = startWatchedObjects({ kube, type: authConnectionKind, log });
  const checks = startLoginChecks({ ...deps, connections, ownLogins });
  stack.defer(async () => {
    await Promise.all([checks.stop(), ownLogins.stop()]);
    await connections.stop();
  });
  return ownLogins;
};

type EventsDeps = Omit<Parameters<typeof createEventFeeds>[0], "announced" | "openSubscriber"> & { config: Config };

/** Tells readers of events, until `stack` is disposed of. */
const openEvents = ({ config, ...deps }: EventsDeps, stack: AsyncDisposableStack): EventFeeds => {
  const openSubscriber = () => connectSubscriber(config.redisUrl, deps.log);
  const events = createEventFeeds({ ...deps, announced, openSubscriber });
  stack.defer(() => events.stop());
  return events;
};

/** What calls agents, until `stack` ends it. */
const openAgentClients = (deps: SetupClientDeps, stack: AsyncDisposableStack) => {
  const agents = createAgentClient(deps, { connectMs: quickConnectMs });
  stack.defer(() => agents.close());
  const setupClient = createSetupClient(deps);
  stack.defer(() => setupClient.close());
  const agentStreams = createAgentStreams(deps);
  stack.defer(() => agentStreams.close());
  const agentExchanges = createAgentExchanges(deps);
  stack.defer(() => agentExchanges.close());
  return { agents, setupClient, agentStreams, agentExchanges };
};

/** Each feature reads the objects of its own kind. */
const createReferents = (deps: Parameters<typeof openParentProxy>[2]): Referents => ({
  openProxy: (proxy, browser) => openParentProxy(proxy as WebProxy, browser, deps),
  profile: (profile) => findContents(profile as Profile, deps),
  extension: (extension) => storedArchive(extension as Extension),
});

/** Counts by one small read of each kind. */
const countObjects = async (kube: Pick<Kube, "count">): Promise<OrganizationUse> => {
  const [authConnections, vaults] = await Promise.all([kube.count(authConnectionKind), kube.count(vaultKind)]);
  return { authConnections, vaults };
};

/** Lets metrics tell of what the copies show. */
const startMetrics = (
  { config, metrics: { registry }, sessionMetrics }: ApiParts,
  caches: Parameters<typeof poolFigures>[0],
): ApiMetrics => {
  const owners = metricOwners(caches);
  sessionMetrics.follow(owners);
  const most = config.metricsPools;
  createPoolMetrics(registry, { most, pools: () => poolFigures(caches) });
  return createApiMetrics(registry, () => totals(caches.pools.list()), { most, owners });
};

/** Starts what is done without a request. */
const startWork = async (
  { subscriber, ...parts }: LoginParts & { subscriber: RedisConnection },
  stack: AsyncDisposableStack,
): Promise<ServiceDeps> => {
  const services = { ...parts.services, ownLogins: startLogins(parts, stack) };
  await startDeliveries({ redis: parts.redis, subscriber, services }, stack);
  return services;
};

/**
 * Builds all dependencies of the use cases; waits for Kubernetes and Redis until `signal` is aborted. `stack` ends
 * them.
 */
export const startServices = async (
  parts: ApiParts,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<ServiceDeps> => {
  const { config, kube, redis, store, metrics, log } = parts;
  const namespace = config.systemNamespace;
  const secretsKeys = readSecretsKeys(config.secretsKeyFile);
  const proxyProvider = readProxyProvider(config);
  const analysisSettings = readAnalysisSettings(config.sites.analysesFile);
  const { privateKey, publicKey, master } = await whileUnreachable(
    async () => {
      await ensureNamespace(kube, namespace);
      return { ...(await loadSigningKey({ kube, namespace })), master: await loadAgentMasterKey({ kube, namespace }) };
    },
    { signal, log },
  );
  // Who could use browsers of trials could say what they find.
  const caches = startCaches(parts, { setAside: analysisSettings?.namespace }, stack);
  const [ofGrants, ofSetups] = [connectRedis(config.redisUrl, log), connectRedis(config.redisUrl, log)];
  for (const subscriber of [ofGrants, ofSetups]) stack.defer(() => subscriber.disconnect());
  await Promise.all([redis, ofGrants, ofSetups].map((connection) => whenReady(connection, startLimitMs, signal)));
  await checkRedis(redis, log);
  const [agentTokens, agentKeys] = [createAgentTokens(privateKey), createAgentKeys(master)];
  const agentClients = openAgentClients({ tokens: agentTokens, keys: agentKeys }, stack);
  const { agents, agentStreams, agentExchanges } = agentClients;
  // Ended late: what is done in the background until then has spans.
  const tracer = await startTracing({ ...metrics, config, service: "browserpool-api" }, stack);
  // New for every process: a restarted container has the name of the dead one, but does not serve the dead one's
  // callers.
  const replica = `${config.replica}-${randomUUID()}`;
  const grants = startGrants({ subscriber: ofGrants, store, replicaId: replica, log });
  stack.defer(() => grants.close());
  const returningBrowsers = createReturningBrowsers({ store, agents, tracer, log });
  const requestKube = kubeForRequests(kube, config.limits.objectsPerProject);
  const policies = createPolicyReader({ kube: requestKube, log });
  await Promise.all(Object.values(caches).map((cache) => cache.synced(signal)));
  const blobs = await startBlobs({ config, meter: metrics.onBlobCall, log }, stack);
  const apiMetrics = startMetrics(parts, caches);
  await leaveInitialKey({ kube, namespace, secretName: config.initialKeySecret, apiKeys: caches.apiKeys, log });
  const exporting = {
    config,
    store,
    kube: requestKube,
    secretsKeys,
    exportResults: createExportResults(redis),
    destinationFilter: createDestinationFilter(config.privateDestinations),
    metrics: apiMetrics,
    log,
  };
  const telemetry = await startTelemetry({ ...caches, ...exporting, streams: agentStreams, replica }, stack, signal);
  const agentParts = { agentTokens, agentKeys, agentStreams, agentExchanges };
  const collected = startCollectors({ ...caches, ...exporting, ...agentParts, blobs, redis, replica }, stack);
  const sessionProfile = createSessionProfile({ ...caches, kube: requestKube });
  const describing = { sessionProfile, policies, leasePages: createLeasePages(redis), signingKey: privateKey };
  const others: Omit<ServiceDeps, "ownLogins"> = {
    ...caches,
    ...exporting,
    ...describing,
    events: openEvents({ ...caches, ...exporting, ...describing, redis, watchKube: kube }, stack),
    referents: createReferents({ kube: requestKube, secretsKeys, proxyProvider }),
    reportOf: createSessionReport(requestKube),
    contents,
    organizationUse: () => countObjects(requestKube),
    endedLeases: createEndedLeases(redis),
    namesComplete: createNamesComplete(redis),
    ...agentClients,
    grants,
    returningBrowsers,
    siteReports: createSiteReports(redis),
    // They saw nothing that a caller has asked for.
    abandonedSessions: createAbandonedSessions({ store, agents, returningBrowsers, tracer, log }),
    abandonedBrowsers: createAbandonedBrowsers({ kube: requestKube, log }),
    names: createSessionNames(redis, store),
    locks: createLocks(redis),
    consoleCodes: createConsoleCodes(redis),
    sessionRoom: createSessionRoom(redis, namespace),
    itemEvents: createItemEvents(redis),
    auditLines: await openAuditLines({ config, log }, stack, signal),
    telemetry,
    ...collected,
    blobs,
    proxyProvider,
    analysisSettings,
    setAside: analysisSettings?.namespace,
    proxyChecks: createProxyChecks(config.proxyChecks),
    providerLookups: createProviderLookups({ kube: requestKube, config, secretsKeys }),
    verifyKey: publicKey,
    agentTokens,
    agentKeys,
    callerLimits: createCallerLimits(config.callers, apiMetrics),
    tracer,
  };
  return startWork({ services: others, redis, replica, subscriber: ofSetups }, stack);
};
