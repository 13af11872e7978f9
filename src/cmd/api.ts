import { createServer } from "node:http";
import { createApp } from "../core/api/app.ts";
import { mountDocs } from "../core/api/docs.ts";
import type { Config } from "../core/config/config.ts";
import { attachGateway, isWebSocketUpgrade } from "../core/gateway/gateway.ts";
import type { AppDeps } from "../core/http/app-deps.ts";
import { limitBodies, uploadMs } from "../core/http/body-deadline.ts";
import { drainable } from "../core/http/drain.ts";
import { createHealth } from "../core/http/ops/health.ts";
import { answerMalformed } from "../core/http/refuse-socket.ts";
import { endedSession } from "../core/leases/ended-session.ts";
import { createLeaseStore } from "../core/leases/lease-store.ts";
import { createSessionMetrics } from "../core/metrics/session-metrics.ts";
import { startProjectEnds } from "../core/sessions/end-sessions-of.ts";
import { type AuditLog, createAuditLog } from "../platform/audit/audit-log.ts";
import { createRecentLines } from "../platform/audit/recent-lines.ts";
import { unavailable } from "../platform/base/errors.ts";
import { createLineSink, type Logger } from "../platform/base/log.ts";
import { connectKube } from "../platform/kube/client.ts";
import { createProcessMetrics } from "../platform/metrics/process-metrics.ts";
import { connectRedis } from "../platform/redis/connection.ts";
import { createIdempotentAnswers } from "../platform/redis/idempotent-answers.ts";
import { startServices } from "./api-services.ts";
import { features, routes } from "./features.ts";
import { closeServer, listen, startOps, withinStartLimit } from "./program.ts";
import type { ServiceDeps } from "./service-deps.ts";

export type RunningApi = {
  /** The URL that it listens on, e.g. `http://127.0.0.1:8080`. */
  url: string;
  /** The URL of probes and metrics; undefined: `url`. */
  opsUrl: string | undefined;
  services: ServiceDeps;
  /**
   * Serves open requests and waiting callers for the configured time. Then it answers callers that still wait, cuts
   * sockets, takes abandoned sessions back, and closes every connection.
   */
  stop(): Promise<void>;
};

type ApiOptions = {
  config: Config;
  /** Default: the usual places. */
  kubeconfigPath?: string;
  /** Aborts a running start. */
  signal?: AbortSignal;
};

/** Deadline of a call to the Kubernetes API during a request, ms: so callers get an error within 2 s of an outage. */
const requestTimeoutMs = 1500;

/**
 * When the service stops: time for answers to waiting callers, then for abandoned sessions and browsers that are reset,
 * ms.
 */
const lastAnswersMs = 1000;
const giveBackMs = 5000;

const thisReplica = (): Error => unavailable("this replica, which is stopping,");

/** Starts to listen; `stop` ends the callers' open requests and sockets. */
const serve = async (
  parts: Omit<AppDeps<ServiceDeps>, "stopping" | "draining">,
): Promise<{ url: string; stop(): Promise<void> }> => {
  const [stopping, draining] = [new AbortController(), new AbortController()];
  const deps = { ...parts, stopping: stopping.signal, draining: draining.signal };
  const { services, health, log } = deps;
  const { config } = services;
  const server = createServer({
    requestTimeout: uploadMs,
    headersTimeout: 20_000,
    keepAliveTimeout: 75_000,
    shouldUpgradeCallback: isWebSocketUpgrade,
  });
  answerMalformed(server);
  limitBodies(server);
  const { drain } = drainable(server);
  server.on("request", createApp({ routes, features }, deps));
  const gateway = attachGateway(server, services, { audit: deps.audit, log });
  const url = await listen(server, config.host, config.port);
  health.setRunning(true);
  return {
    url,
    async stop() {
      health.setRunning(false);
      draining.abort(thisReplica());
      await drain(config.stopGraceMs, () => gateway.size() > 0);
      stopping.abort(thisReplica());
      gateway.close();
      await closeServer(server, lastAnswersMs);
      await Promise.all([services.abandonedSessions.drain(giveBackMs), services.abandonedBrowsers.drain(giveBackMs)]);
      await services.returningBrowsers.drain(giveBackMs);
    },
  };
};

/** Starts the audit stream, until `stack` is disposed of. */
const startAudit = (
  { auditLog, replica }: Config,
  { metrics: { auditLines }, auditLines: store, log }: ServiceDeps,
  stack: AsyncDisposableStack,
): AuditLog => {
  const sink = createLineSink(auditLog, () => auditLines.inc({ reason: "lost" }));
  stack.defer(() => sink.close());
  const recent = createRecentLines({
    replica,
    store,
    onLeftOut: (reason, count) => auditLines.inc({ reason }, count),
    onProblem: (err) => log.warn({ err }, "recent audit lines are not kept for readers"),
  });
  stack.defer(() => recent.close());
  const onSuppressed = (): void => auditLines.inc({ reason: "suppressed" });
  const audit = createAuditLog({ replica, write: sink.write, keep: recent.add, onSuppressed });
  stack.defer(() => audit.close());
  return audit;
};

const start = async ({ config, kubeconfigPath }: ApiOptions, log: Logger, signal: AbortSignal): Promise<RunningApi> => {
  await using stack = new AsyncDisposableStack();
  const health = createHealth({ redis: () => store.ping().then(() => true), kubernetes: () => kube.ready() });
  const metrics = createProcessMetrics(health.parts);
  const { registry, onKubeCall, onRedisCommand } = metrics;
  const kube = connectKube({ requestTimeoutMs, onCall: onKubeCall, ...(kubeconfigPath && { kubeconfigPath }) });
  stack.defer(() => kube.close());
  const redis = connectRedis(config.redisUrl, log, onRedisCommand);
  stack.defer(() => redis.disconnect());
  const sessionMetrics = createSessionMetrics(registry, { most: config.metricsPools });
  const store = createLeaseStore(redis, (lease, reason) =>
    sessionMetrics.ended(endedSession(lease, reason, Date.now())),
  );
  let services: ServiceDeps | undefined;
  const mountPages = (app: Parameters<typeof mountDocs>[0]): void => {
    mountDocs(app, routes);
    for (const { mountOps } of features) mountOps?.(app, () => services);
  };
  const opsUrl = await startOps({ config, health, registry, mountPages, log }, stack);
  services = await startServices({ config, kube, redis, store, metrics, sessionMetrics, log }, stack, signal);
  const projectEnds = startProjectEnds(services);
  stack.defer(() => projectEnds.stop());
  const answers = createIdempotentAnswers(redis);
  const audit = startAudit(config, services, stack);
  const { url, stop } = await serve({ services, answers, audit, health, registry, log });
  log.info({ listen: url }, "api is ready");
  const kept = stack.move();
  return {
    url,
    opsUrl,
    services,
    async stop() {
      await stop();
      await answers.drain(giveBackMs);
      await kept.disposeAsync();
    },
  };
};

/** Starts the HTTP API and the gateway; waits up to a minute for Kubernetes and Redis. */
export const startApi = (options: ApiOptions, log: Logger): Promise<RunningApi> =>
  withinStartLimit(options.signal, (signal) => start(options, log, signal));
