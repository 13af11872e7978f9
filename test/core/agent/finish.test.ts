import { createSecretKey, randomBytes } from "node:crypto";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startAgentHttp } from "../../../src/core/agent/agent-http.ts";
import { silent } from "../../support/lease-parts.ts";

/** An agent with one route whose answer is lines. */
const startWith = async (lines: (signal: AbortSignal) => AsyncIterable<object>) => {
  const server = await startAgentHttp({
    ...{ address: "127.0.0.1", port: 0, requestTimeoutMs: 10_000, log: silent },
    agentKey: createSecretKey(randomBytes(32)),
    verify: async () => true,
    routes: { "/logs": { GET: async () => ({ status: 200, lines }) } },
  });
  onTestFinished(server.close);
  const headers = { authorization: "Bearer token" };
  const { body } = await fetch(`http://127.0.0.1:${server.port}/logs`, { headers });
  if (!body) throw new Error("no lines");
  return { server, rest: text(body) };
};

// STREAM-6
test("an agent that ends lets its streams say their last lines", async () => {
  const last = Promise.withResolvers<void>();
  const { server, rest } = await startWith(async function* (signal) {
    yield { line: "first" };
    await Promise.race([last.promise, once(signal, "abort")]);
    signal.throwIfAborted();
    yield { line: "last" };
  });
  const finished = server.finish();
  last.resolve();
  expect(await rest).toBe('{"line":"first"}\n{"line":"last"}\n');
  await finished;
});

test("an agent that ends breaks off a stream that goes on, so that its reader knows that there was more", async () => {
  const { server, rest } = await startWith(async function* (signal) {
    yield { line: "first" };
    await once(signal, "abort");
  });
  await Promise.all([server.finish(), expect(rest).rejects.toThrow()]);
});
