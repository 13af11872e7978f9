/**
 * Answers that do not reach their caller: what was done is undone, unless the caller can repeat its request and get the
 * answer then.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { routesWith } from "../../../src/core/http/route.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { type ApiWithLeases, startApiWithLeases } from "../projects/api-with-leases.ts";
import { serveOneRoute } from "./one-route.ts";

const defineRoute = routesWith<object>();

let api: ApiWithLeases;
beforeAll(async () => {
  api = await startApiWithLeases();
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** More than a connection takes while its reader stands still. */
const largeAnswer = { text: "x".repeat(16 * 1024 * 1024) };

/** Serves a route whose answer can be taken back. `closed` resolves when a request's connection is over. */
const serve = async () => {
  const begun = Promise.withResolvers<void>();
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
  const { port, closed } = await serveOneRoute(route, api);
  return { port, begun: begun.promise, closed, takenBack: () => takenBack };
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
