/** Streams of lines: from a real server of an agent to the API's client. */
import { createSecretKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startAgentHttp } from "../../../src/core/agent/agent-http.ts";
import type { AgentLines } from "../../../src/core/agent/line-streams.ts";
import { AgentStreamBroken, createAgentStreams } from "../../../src/core/leases/agent/agent-stream.ts";
import { createAgentKeys, newPodSuffix } from "../../../src/core/protocol/agent-key.ts";
import { createAgentTokens, createAgentTokenVerifier } from "../../../src/core/protocol/agent-token.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { eventually } from "../../support/eventually.ts";

/** An agent that answers `/lines` with these, and the client. `isGenuine`: whether it has the key of its pod. */
const withStream = async (lines: AgentLines["lines"], { isGenuine = true, clockMs = 0 } = {}) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pod = `pool-${newPodSuffix()}`;
  const keys = createAgentKeys(createSecretKey(randomBytes(32)));
  const server = await startAgentHttp({
    address: "127.0.0.1",
    port: 0,
    verify: createAgentTokenVerifier(publicKey, "uid"),
    agentKey: isGenuine ? keys.keyOf(pod) : createSecretKey(randomBytes(32)),
    routes: { "/lines": { GET: async () => ({ status: 200, lines }) } },
    requestTimeoutMs: 10_000,
    log: createLogger("silent", "test"),
  });
  const clocks = { wall: () => Date.now() + clockMs, monotonic: () => performance.now() };
  const streams = createAgentStreams({ tokens: createAgentTokens(privateKey, clocks), keys });
  const stop = new AbortController();
  const place = { browser: "uid", pod, address: `127.0.0.1:${server.port}` };
  return {
    server,
    stop,
    open: (path = "/lines?a=b") => streams.open(place, path, stop.signal),
    async [Symbol.asyncDispose]() {
      server.close();
      await streams.close();
    },
  };
};

const linesOf = (opened: Awaited<ReturnType<Awaited<ReturnType<typeof withStream>>["open"]>>) => {
  if (opened.kind !== "ok") throw new Error(JSON.stringify(opened));
  return opened.lines[Symbol.asyncIterator]();
};

/** Waits for ever, or until it is aborted. */
const wait = (signal: AbortSignal) => sleep(600_000, undefined, { signal, ref: false });

// STREAM-1, LEASE-55
test("lines come one by one, before the stream is over, also to a caller whose clock is wrong", async () => {
  const next = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const lines = async function* () {
    yield { text: "é\n" };
    await next[0].promise;
    yield { text: "x".repeat(200_000) };
    await next[1].promise;
  };
  await using stream = await withStream(lines, { clockMs: -300_000 });
  const read = linesOf(await stream.open());
  expect((await read.next()).value).toEqual({ text: "é\n" });
  next[0].resolve();
  expect((await read.next()).value).toEqual({ text: "x".repeat(200_000) });
  next[1].resolve();
  expect(await read.next()).toEqual({ value: undefined, done: true });
});

// STREAM-1
test("nothing is read of a stream without the proof of the pod's agent", async () => {
  const lines = async function* () {
    yield { secret: 1 };
  };
  await using stream = await withStream(lines, { isGenuine: false });
  expect(await stream.open()).toEqual({ kind: "refused", code: "not_genuine" });
  expect(await stream.open("/nothing")).toEqual({ kind: "refused", code: "not_genuine" });
});

test("what breaks off is no end, and an agent that stops leaves no stream open", async () => {
  const lines = async function* (signal: AbortSignal) {
    yield { a: 1 };
    await wait(signal);
  };
  await using stream = await withStream(lines);
  const read = linesOf(await stream.open());
  await read.next();
  await stream.server.finish();
  await expect(read.next()).rejects.toThrow(AgentStreamBroken);
});

test("a caller that goes ends the agent's source, and leaves room for others", async () => {
  let open = 0;
  const lines = async function* (signal: AbortSignal) {
    open += 1;
    try {
      yield { a: 1 };
      await wait(signal);
    } finally {
      open -= 1;
    }
  };
  await using stream = await withStream(lines);
  const readers = [];
  for (let count = 0; count < 16; count++) readers.push(linesOf(await stream.open()));
  for (const reader of readers) await reader.next();
  expect(await stream.open()).toEqual({ kind: "refused", code: "too_many_requests" });
  const waiting = readers.map((reader) => reader.next().catch((error: unknown) => error));
  stream.stop.abort(new Error("gone"));
  expect(await Promise.all(waiting)).toEqual(readers.map(() => new Error("gone")));
  await eventually("the sources have ended", () => open === 0);
});

// STREAM-2
test("a reader that takes nothing keeps the source from running ahead of it", async () => {
  let made = 0;
  const lines = async function* () {
    for (;;) {
      made += 1;
      yield { text: "x".repeat(10_000) };
    }
  };
  await using stream = await withStream(lines);
  const read = linesOf(await stream.open());
  await read.next();
  const seen: number[] = [];
  await eventually("the source stands still", async () => {
    seen.unshift(made);
    await sleep(100);
    return seen[0] === made && seen.length > 3;
  });
  // The buffers of the two sockets.
  expect(made * 10_000).toBeLessThan(32 * 1024 * 1024);
  stream.stop.abort();
});
