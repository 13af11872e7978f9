import { createServer, type Server } from "node:http";
import { createOpsApp, type OpsDeps } from "../core/http/ops/ops-app.ts";
import { hostPort } from "../platform/base/host-port.ts";
import { listeningPort } from "../platform/base/listening-port.ts";

/**
 * How long a starting process waits for Kubernetes and Redis, ms; after that it ends, and an orchestrator starts it
 * again.
 */
export const startLimitMs = 60_000;

/** Runs a start with a signal that is aborted when `stop` is, or after the limit. */
export const withinStartLimit = async <T>(
  stop: AbortSignal | undefined,
  start: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const limit = new AbortController();
  const reason = new Error(`Kubernetes or Redis did not answer within ${startLimitMs / 1000} s`);
  const timer = setTimeout(() => limit.abort(reason), startLimitMs);
  try {
    return await start(stop ? AbortSignal.any([stop, limit.signal]) : limit.signal);
  } finally {
    clearTimeout(timer);
  }
};

/** Starts to listen; port 0: any free one. Returns the server's URL, e.g. `http://127.0.0.1:8080`. */
export const listen = async (server: Server, host: string, port: number): Promise<string> => {
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(port, host, () => listening.resolve());
  await listening.promise;
  return `http://${hostPort(host, listeningPort(server))}`;
};

/** Accepts no more connections, and cuts those that are still in use after `graceMs`. */
export const closeServer = async (server: Server, graceMs: number): Promise<void> => {
  const closed = Promise.withResolvers<void>();
  server.close(() => closed.resolve());
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed.promise;
  clearInterval(idle);
  clearTimeout(deadline);
};

/** Time for a scrape to end when the process stops, ms. */
const closeGraceMs = 1000;

/** Serves probes and metrics until `parts` is disposed of. Returns their URL, undefined without an ops port. */
export const startOps = async (deps: OpsDeps, parts: AsyncDisposableStack): Promise<string | undefined> => {
  const { config, log } = deps;
  if (config.opsPort === undefined) return undefined;
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, createOpsApp(deps));
  const url = await listen(server, config.host, config.opsPort);
  parts.defer(() => closeServer(server, closeGraceMs));
  log.info({ listen: url }, "ops port is open");
  return url;
};
