/** Answers that do not reach their caller: what was done is undone, unless the caller can repeat its request and get the answer then. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import express from "express";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createAuditLog } from "../../src/audit/audit-log.ts";
import { newFacts } from "../../src/http/audit-call.ts";
import { createHealth } from "../../src/http/ops/health.ts";
import { setArrival, setFacts, setLog } from "../../src/http/request-locals.ts";
import { defineRoute } from "../../src/http/route.ts";
import { serveRoute } from "../../src/http/serve-route.ts";
import { createIdempotentAnswers } from "../../src/redis/idempotent-answers.ts";
import { newId } from "../../src/services/objects/new-id.ts";
import { type ApiWithLeases, startApiWithLeases } from "../org/api-with-leases.ts";
import { silent } from "../support/lease-parts.ts";

let api: ApiWithLeases;
beforeAll(async () => {
  api = await startApiWithLeases();
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** More than a connection takes while its reader stands still. */
const largeAnswer = { text: "x".repeat(16 * 1024 * 1024) };

/** Serves a route whose answer can be taken back. `closed` resolves when a request's connection is over. */
const serve = async () => {
  const [begun, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let takenBack = 0;
  const undelivered = (): void => {
    takenBack += 1;
  };
  const route = defineRoute(
    {
      ...{ method: "post", path: "/things", operationId: "makeThing", tag: "Things", summary: "Make a thing" },
      ...{ scope: "project", permission: "browsers:use", answers: { 200: { description: "It" } }, errors: [] },
      body: z.object({}),
    },
    async () => {
      begun.resolve();
      return { status: 200, body: largeAnswer, undelivered };
    },
  );
  const never = new AbortController().signal;
  const serveThings = serveRoute(route, {
    services: api.services,
    answers: createIdempotentAnswers(api.parts.redis),
    audit: createAuditLog({ replica: "test", write: () => true, onSuppressed: () => undefined }),
    health: createHealth({ redis: async () => true, kubernetes: async () => true }),
    registry: new Registry(),
    ...{ stopping: never, draining: never, log: silent },
  });
  const app = express();
  app.post("/things", (request, response, next) => {
    setLog(response, silent);
    setFacts(response, newFacts({ request_id: "1", address: "127.0.0.1" }));
    setArrival(response, performance.now());
    response.on("close", closed.resolve);
    return serveThings(request, response, next);
  });
  const server = createServer(app).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    begun: begun.promise,
    closed: closed.promise,
    takenBack: () => takenBack,
  };
};

// LEASE-56, HTTP-21
test.each([
  ["once", undefined, 1],
  ["never for a request that can be repeated", newId(), 0],
])("an answer whose caller hangs up before its end is taken back: %s", async (_often, repeatKey, times) => {
  const { port, begun, closed, takenBack } = await serve();
  const caller = connect(port, "127.0.0.1").on("error", () => undefined);
  await once(caller, "connect");
  caller.pause();
  const headers = [
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${api.organizationKey}`,
    "Content-Type: application/json",
    "Content-Length: 2",
    ...(repeatKey ? [`Idempotency-Key: ${repeatKey}`] : []),
  ];
  caller.write(`POST /things HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n{}`);
  await begun;
  caller.destroy();
  await closed;
  expect(takenBack()).toBe(times);
});
