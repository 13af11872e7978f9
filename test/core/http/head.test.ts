/** A HEAD costs no more than its headers. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, routesWith } from "../../../src/core/http/route.ts";
import { eventually } from "../../support/eventually.ts";
import { type ApiWithLeases, startApiWithLeases } from "../projects/api-with-leases.ts";
import { serveOneRoute } from "./one-route.ts";

const defineRoute = routesWith<object>();

let api: ApiWithLeases;
beforeAll(async () => {
  api = await startApiWithLeases();
});
afterAll(() => api?.[Symbol.asyncDispose]());

// HTTP-34
test.each(["file", "events"] as const)("of %s, nothing is read, and what was opened is told to close", async (kind) => {
  let read = 0;
  const signals: AbortSignal[] = [];
  const body = async function* () {
    read += 1;
    yield Buffer.from("x");
  };
  const events = async function* () {
    read += 1;
    yield { data: {} };
  };
  const answers = {
    file: { status: 200, file: { type: "application/x-tar", name: "a.tar", bytes: 1, body: body() } },
    events: { status: 200, events: events() },
  };
  const route = defineRoute(
    {
      ...{ method: "get", path: "/things", operationId: "getThing", tag: "Things", summary: "Get a thing" },
      ...{ scope: "project", permission: "browsers:use", answers: { 200: { description: "It" } }, errors: [] },
    },
    async ({ signal }) => {
      signals.push(signal);
      return answers[kind] as Answer;
    },
  );
  const { port } = await serveOneRoute(route, api);
  const ask = (method: string) =>
    fetch(`http://127.0.0.1:${port}/things`, { method, headers: { authorization: `Bearer ${api.organizationKey}` } });
  const head = await ask("HEAD");
  expect([head.status, head.headers.get("content-type")]).toEqual([
    200,
    kind === "file" ? "application/x-tar" : expect.stringContaining("text/event-stream"),
  ]);
  await eventually("the handler is told", () => signals[0]?.aborted);
  expect(read).toBe(0);
  expect(await (await ask("GET")).text()).not.toBe("");
  expect(read).toBe(1);
});
