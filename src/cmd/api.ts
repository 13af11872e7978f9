import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Config } from "../config.ts";
import { unavailable } from "../errors.ts";
import { attachGateway, isWebSocketUpgrade } from "../gateway/gateway.ts";
import { createApp } from "../http/app.ts";
import { answerMalformed } from "../http/refuse-socket.ts";
import { connectKube } from "../kube/client.ts";
import { startReflector } from "../kube/reflector.ts";
import { createAgentClient } from "../leases/agent-client.ts";
import { checkRedis } from "../leases/check-redis.ts";
import { createGiveBacks } from "../leases/give-backs.ts";
import { startGrants } from "../leases/grants.ts";
import { createIdempotentAnswers } from "../leases/idempotent-answers.ts";
import { createItemEvents } from "../leases/item-events.ts";
import { createLeaseStore } from "../leases/lease-store.ts";
import { connectRedis, whenReady } from "../leases/redis.ts";
import { createSessionNames } from "../leases/session-names.ts";
import { createTurns } from "../leases/turns.ts";
import type { Logger } from "../log.ts";
import { createMetrics, type PoolTotals } from "../metrics.ts";
import { type BrowserPool, browserPoolKind } from "../resources/browser-pool.ts";
import { startApiKeys } from "../services/api-keys.ts";
import { leaveInitialKey } from "../services/initial-key.ts";
import { kubeForRequests } from "../services/kube-for-requests.ts";
import { startOnDemandBrowsers } from "../services/on-demand-browsers.ts";
import { createPolicyReader } from "../services/policy-reader.ts";
import { startProjects } from "../services/projects.ts";
import { readSecretsKeys } from "../services/secrets/secrets-key.ts";
import type { ServiceDeps } from "../services/service-deps.ts";
import { loadSigningKey } from "../services/signing-key.ts";
import { ensureNamespace } from "../services/system-namespace.ts";
import { createAgentTokens } from "../tokens/agent-token.ts";

export type RunningApi = {
  /** Where it listens, e.g. `http://127.0.0.1:8080`. */
  url: string;
  services: ServiceDeps;
  /** Answers waiting callers, finishes open requests, gives sockets 10 s, gives back what nobody got, closes every connection. */
  stop(): Promise<void>;
};

/** Deadline of a call to the Kubernetes API on the way of a request, ms: callers hear of an outage within 2 s. */
const requestTimeoutMs = 1500;

/** How long Redis may take to answer at start, ms; an orchestrator starts us again after that. */
const redisStartMs = 30_000;

/** Time for open requests and sockets to end when the service stops, ms. */
const defaultStopGraceMs = 10_000;

const totals = (pools: BrowserPool[]): PoolTotals =>
  pools.reduce(
    (sum, { spec, status }) => ({
      size: sum.size + spec.size,
      available: sum.available + (status?.available ?? 0),
      acquired: sum.acquired + (status?.acquired ?? 0),
      starting: sum.starting + (status?.starting ?? 0),
      waiting: sum.waiting + (status?.waiting ?? 0),
    }),
    { size: 0, available: 0, acquired: 0, starting: 0, waiting: 0 },
  );

const listen = async (server: Server, { host, port }: Config): Promise<string> => {
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(port, host, () => listening.resolve());
  await listening.promise;
  const { port: actual } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${actual}`;
};

/** Builds everything that requests are served with. */
const connectServices = async (config: Config, kubeconfigPath: string | undefined, log: Logger) => {
  const secretsKeys = readSecretsKeys(config.secretsKeyFile);
  const kube = connectKube({ requestTimeoutMs, ...(kubeconfigPath && { kubeconfigPath }) });
  await ensureNamespace(kube, config.systemNamespace);
  const { privateKey, publicKey } = await loadSigningKey({ kube, namespace: config.systemNamespace });
  const projects = startProjects({ kube, log });
  const apiKeys = startApiKeys({ kube, namespace: config.systemNamespace, log });
  const pools = startReflector<BrowserPool>({ kube, type: browserPoolKind, onChange: () => undefined, log });
  const browsers = startOnDemandBrowsers({ kube, log });
  const redis = connectRedis(config.redisUrl, log);
  const subscriber = connectRedis(config.redisUrl, log);
  await Promise.all([whenReady(redis, redisStartMs), whenReady(subscriber, redisStartMs)]);
  await checkRedis(redis, log);
  const store = createLeaseStore(redis);
  const agentTokens = createAgentTokens(privateKey);
  const agents = createAgentClient(agentTokens);
  const requestKube = kubeForRequests(kube);
  const services: ServiceDeps = {
    config,
    kube: requestKube,
    pools,
    browsers,
    policies: createPolicyReader({ kube: requestKube, log }),
    projects,
    apiKeys,
    store,
    agents,
    // New for every process: a container that was started again has the old one's name, and must not pass for the dead
    // one, whose callers nobody serves any more.
    grants: startGrants({ subscriber, store, replicaId: `${config.replica}-${randomUUID()}`, log }),
    giveBacks: createGiveBacks({ store, agents, log }),
    names: createSessionNames(redis, store),
    turns: createTurns(redis),
    itemEvents: createItemEvents(redis),
    secretsKeys,
    signingKey: privateKey,
    verifyKey: publicKey,
    agentTokens,
    metrics: createMetrics(() => totals(pools.list())),
    log,
  };
  await Promise.all([projects.synced(), apiKeys.synced(), pools.synced(), browsers.synced()]);
  await leaveInitialKey({ kube, namespace: config.systemNamespace, secretName: config.initialKeySecret, apiKeys, log });
  const disconnect = async (): Promise<void> => {
    await Promise.all([projects.stop(), apiKeys.stop(), pools.stop(), browsers.stop()]);
    await services.grants.close();
    redis.disconnect();
    await agents.close();
    await kube.close();
  };
  return { services, answers: createIdempotentAnswers(redis), disconnect };
};

const closeServer = async (server: Server, graceMs: number): Promise<void> => {
  const closed = Promise.withResolvers<void>();
  server.close(() => closed.resolve());
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed.promise;
  clearInterval(idle);
  clearTimeout(deadline);
};

/** Starts the HTTP API and the gateway. `kubeconfigPath`: left out, the usual places. */
export const startApi = async (
  {
    config,
    kubeconfigPath,
    stopGraceMs = defaultStopGraceMs,
  }: { config: Config; kubeconfigPath?: string; stopGraceMs?: number },
  log: Logger,
): Promise<RunningApi> => {
  const { services, answers, disconnect } = await connectServices(config, kubeconfigPath, log);
  const stopping = new AbortController();
  const server = createServer({
    requestTimeout: 60_000,
    headersTimeout: 20_000,
    keepAliveTimeout: 75_000,
    shouldUpgradeCallback: isWebSocketUpgrade,
  });
  answerMalformed(server);
  server.on("request", createApp({ services, answers, stopping: stopping.signal, log }));
  const gateway = attachGateway(server, services, log);
  const url = await listen(server, config);
  log.info({ listen: url }, "api is ready");
  return {
    url,
    services,
    async stop() {
      stopping.abort(unavailable("this replica, which is stopping,"));
      await Promise.all([gateway.close(stopGraceMs), closeServer(server, stopGraceMs)]);
      await services.giveBacks.settle(stopGraceMs);
      await disconnect();
    },
  };
};
