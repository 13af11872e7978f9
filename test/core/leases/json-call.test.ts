import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Agent } from "undici";
import { expect, test } from "vitest";
import { callJson, type JsonAnswer } from "../../../src/core/leases/agent/agent-call.ts";

const parsed = ({ status, body }: JsonAnswer) => ({ status, answer: JSON.parse(body.toString()) as unknown });

/** Calls a server that answers with `listener`. */
const call = async (
  listener: RequestListener,
  { timeoutMs = 5000, body }: { timeoutMs?: number; body?: object } = {},
) => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const dispatcher = new Agent({ maxResponseSize: 1000 });
  try {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const headers = { authorization: "Bearer t" };
    return await callJson(
      dispatcher,
      { origin, path: "/x", method: "PUT", headers, ...(body && { body }), timeoutMs },
      parsed,
    );
  } finally {
    await dispatcher.destroy();
    server.closeAllConnections();
    server.close();
  }
};

test("body and headers arrive, and the whole answer comes back, whatever its status", async () => {
  const { status, answer } = await call(
    async (request, response) => {
      const { method, url, headers } = request;
      const sent = await text(request);
      response.writeHead(409).write(`{"sent":${sent},`);
      setImmediate(() => response.end(`"method":"${method}","url":"${url}","token":"${headers.authorization}"}`));
    },
    { body: { ü: 1 } },
  );
  expect({ status, answer }).toEqual({
    status: 409,
    answer: { sent: { ü: 1 }, method: "PUT", url: "/x", token: "Bearer t" },
  });
});

test.each<[string, RequestListener]>([
  ["before its answer", () => undefined],
  ["in the middle of its answer", (_request, response) => void response.write("{")],
])("a server that falls silent %s is given up when the time is over", async (_when, listener) => {
  await expect(call(listener, { timeoutMs: 100 })).rejects.toMatchObject({ name: "TimeoutError" });
});

test.each<[string, RequestListener]>([
  ["no JSON", (_request, response) => void response.end("<html>")],
  ["nothing", (_request, response) => void response.end()],
  ["more than is read", (_request, response) => void response.end(JSON.stringify("x".repeat(2000)))],
  ["half an answer", (_request, response) => void response.write("{", () => response.destroy())],
])("an answer that is %s is a failure", async (_what, listener) => {
  await expect(call(listener)).rejects.toThrow();
});
