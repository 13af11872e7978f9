import { createSecretKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createAgentClient } from "../../../src/core/leases/agent/agent-client.ts";
import type { LeaseRecord } from "../../../src/core/leases/records.ts";
import { createAgentKeys } from "../../../src/core/protocol/agent-key.ts";
import { createAgentTokens, createAgentTokenVerifier } from "../../../src/core/protocol/agent-token.ts";
import { sendProven } from "../../support/proven-answers.ts";

const pod = "pod-1";
const keys = createAgentKeys(createSecretKey(randomBytes(32)));
const key = keys.keyOf(pod);
const state = { pod_uid: "pod", fence: { epoch: 1, seq: 1 }, binding: null, resetting: false, lease: null };

test("many calls to one agent, binds and ends, share a kept-alive connection", async () => {
  const server = createServer((request, response) => {
    request.resume().on("end", () => sendProven(key, { request, response }, 200, state));
  });
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const tokens = createAgentTokens(generateKeyPairSync("ed25519").privateKey);
  const agents = createAgentClient({ tokens, keys });
  try {
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const lease = { session: "s", browser: "pod", pod, address, epoch: 1, seq: 1 } as LeaseRecord;
    for (let round = 0; round < 10; round++) {
      expect(
        await agents.bind(lease, {
          session_id: "s",
          epoch: 1,
          seq: 1,
          timeout_seconds: 10,
          max_seconds: 60,
          request: "{}",
        }),
      ).toMatchObject({
        kind: "ok",
      });
      expect(await agents.end(lease, "reset")).toMatchObject({ kind: "ok" });
    }
    // The client opens a second connection while it checks an idle one before reuse.
    expect(connections).toBeLessThanOrEqual(2);
  } finally {
    await agents.close();
    server.close();
  }
});

test("a connection is kept for as long as its caller wants, however long the agent would keep it", async () => {
  const server = createServer((request, response) => request.resume().on("end", () => response.end("{}")));
  server.keepAliveTimeout = 60_000;
  const closed = Promise.withResolvers<void>();
  server.on("connection", (socket) => socket.once("close", () => closed.resolve()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const tokens = createAgentTokens(generateKeyPairSync("ed25519").privateKey);
  const agents = createAgentClient({ tokens, keys }, { keepAliveMs: 100 });
  try {
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    await agents.state({ browser: "uid", pod, address }, 1);
    // Fails by the limit of a test when the agent's time counts.
    await closed.promise;
  } finally {
    await agents.close();
    server.close();
  }
});

/** A server in the agent's place, and a client whose clock is an hour behind. */
const withServer = async (answer: RequestListener) => {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const clocks = { wall: () => Date.now() - 3_600_000, monotonic: () => performance.now() };
  const agents = createAgentClient({
    tokens: createAgentTokens(privateKey, clocks),
    keys,
  });
  return {
    agents,
    place: { browser: "uid", pod, address: `127.0.0.1:${(server.address() as AddressInfo).port}` },
    verify: createAgentTokenVerifier(publicKey, "uid"),
    async [Symbol.asyncDispose]() {
      await agents.close();
      server.closeAllConnections();
      server.close();
    },
  };
};
type Server = Awaited<ReturnType<typeof withServer>>;

// LEASE-55
test("a call with a token that the agent finds expired is repeated once, by the agent's time, and later calls need no repetition", async () => {
  const statuses: number[] = [];
  await using server: Server = await withServer(async (request, response) => {
    const isGood = await server.verify(request.headers.authorization?.slice("Bearer ".length) ?? "");
    statuses.push(isGood ? 200 : 401);
    const refusal = { code: "unauthorized", message: "no", now: Date.now() };
    sendProven(key, { request, response }, isGood ? 200 : 401, isGood ? state : refusal);
  });
  expect(await server.agents.state(server.place, 1)).toMatchObject({ kind: "ok" });
  expect(await server.agents.state(server.place, 1)).toMatchObject({ kind: "ok" });
  expect(statuses).toEqual([401, 200, 200]);
});

// LEASE-55
test("an agent that takes no token at all is asked twice, and an agent that tells no time once", async () => {
  let calls = 0;
  let now: number | undefined = Date.now();
  await using server: Server = await withServer((request, response) => {
    calls += 1;
    sendProven(key, { request, response }, 401, { code: "unauthorized", message: "no", now });
  });
  expect(await server.agents.state(server.place, 1)).toMatchObject({ kind: "refused", code: "unauthorized" });
  expect(calls).toBe(2);
  now = undefined;
  expect(await server.agents.state(server.place, 1)).toMatchObject({ kind: "refused", code: "unauthorized" });
  expect(calls).toBe(3);
});

// LEASE-39
test("a call whose kept-alive connection was reset is repeated once", async () => {
  let calls = 0;
  let resets = 1;
  await using server: Server = await withServer((request, response) => {
    calls += 1;
    if (calls > 1 && resets-- > 0) request.socket.resetAndDestroy();
    else sendProven(key, { request, response }, 200, state);
  });
  expect(await server.agents.state(server.place, 1)).toMatchObject({ kind: "ok" });
  expect(await server.agents.state(server.place, 1)).toMatchObject({ kind: "ok" });
  expect(calls).toBe(3);
  resets = 10;
  expect(await server.agents.state(server.place, 1)).toEqual({ kind: "unreachable", reason: "reset" });
  expect(calls).toBe(5);
});
