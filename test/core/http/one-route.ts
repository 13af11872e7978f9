/** A server with one route of a test, in the place of all others. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { Registry } from "prom-client";
import { onTestFinished } from "vitest";
import { newFacts } from "../../../src/core/http/audit-call.ts";
import { createHealth } from "../../../src/core/http/ops/health.ts";
import { setArrival, setFacts, setLog } from "../../../src/core/http/request-locals.ts";
import type { Route } from "../../../src/core/http/route.ts";
import { serveRoute } from "../../../src/core/http/serve-route.ts";
import { createAuditLog } from "../../../src/platform/audit/audit-log.ts";
import { createIdempotentAnswers } from "../../../src/platform/redis/idempotent-answers.ts";
import { silent } from "../../support/lease-parts.ts";
import type { ApiWithLeases } from "../projects/api-with-leases.ts";

/** Serves the route until the test ends. `closed` resolves when the first request's connection is over. */
export const serveOneRoute = async (
  route: Route,
  { services, parts }: ApiWithLeases,
): Promise<{ port: number; closed: Promise<void> }> => {
  const closed = Promise.withResolvers<void>();
  const never = new AbortController().signal;
  const serve = serveRoute(route, {
    services,
    answers: createIdempotentAnswers(parts.redis),
    audit: createAuditLog({ replica: "test", write: () => true, onSuppressed: () => undefined }),
    health: createHealth({ redis: async () => true, kubernetes: async () => true }),
    registry: new Registry(),
    ...{ stopping: never, draining: never, log: silent },
  });
  const app = express();
  app[route.method](route.path, (request, response, next) => {
    setLog(response, silent);
    setFacts(response, newFacts({ request_id: "1", method: "GET", address: "127.0.0.1" }));
    setArrival(response, performance.now());
    response.on("close", closed.resolve);
    return serve(request, response, next);
  });
  const server = createServer(app).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, closed: closed.promise };
};
