/** A master, its replica and a Sentinel, with callers that wait while the replica takes over. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { listeningPort } from "../../../src/platform/base/listening-port.ts";
import { connectRedis, whenReady } from "../../../src/platform/redis/connection.ts";
import { eventually } from "../../support/eventually.ts";
import { type LeaseFlow, runLeaseFlow, startLeaseFlow } from "../../support/lease-flow.ts";
import { silent } from "../../support/lease-parts.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-servers.ts";

const login = { password: "secret" };
const secured = ["requirepass secret", "masterauth secret", "repl-diskless-sync-delay 0"];
let sentinel: RedisServer;
let flow: LeaseFlow;
const servers = new AsyncDisposableStack();

beforeAll(async () => {
  const master = servers.use(await startRedisServer(secured, { login }));
  servers.use(await startRedisServer([...secured, `replicaof 127.0.0.1 ${master.port}`], { login }));
  const watched = [
    `sentinel monitor leases 127.0.0.1 ${master.port} 1`,
    "sentinel auth-pass leases secret",
    "sentinel down-after-milliseconds leases 1000",
    "sentinel failover-timeout leases 3000",
    "requirepass watch",
  ];
  sentinel = servers.use(await startRedisServer(watched, { isSentinel: true, login: { password: "watch" } }));
  const url = `redis-sentinel://:secret@127.0.0.1:${sentinel.port}/0?master=leases&sentinel_password=watch`;
  flow = await startLeaseFlow(url);
});
afterAll(async () => {
  await flow?.[Symbol.asyncDispose]();
  await servers.disposeAsync();
});

const masterPort = async (): Promise<number> => {
  const [, port] = (await sentinel.admin().call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "leases")) as [string, string];
  return Number(port);
};

test("callers that wait while the replica takes over get their browsers in order", async () => {
  await runLeaseFlow(flow);
  const poolUid = newId();
  const first = flow.acquire(poolUid, "first");
  await flow.whenWaiting(poolUid, 1);
  const second = flow.acquire(poolUid, "second");
  await flow.whenWaiting(poolUid, 2);
  const before = await masterPort();
  await eventually("the replica is known and the failover begun", () =>
    sentinel
      .admin()
      .call("SENTINEL", "FAILOVER", "leases")
      .then(
        () => true,
        () => undefined,
      ),
  );
  const after = await eventually("the replica is the master", async () => {
    const port = await masterPort();
    return port !== before && port;
  });
  // Writes that still reach the old master are lost, as with any asynchronous replication; the operator's audit repairs
  // that.
  await eventually("commands go there", async () =>
    (await flow.parts.redis.info("server").catch(() => "")).includes(`tcp_port:${after}\r`),
  );
  const browser = await eventually("a browser can be registered", () =>
    flow.addBrowser(poolUid).catch(() => undefined),
  );
  expect(await first).toMatchObject({ kind: "held", lease: { browser } });
  await eventually("it is released", () => flow.release(poolUid, "first").catch(() => undefined));
  expect(await second).toMatchObject({ kind: "held", lease: { browser, seq: 2 } });
  await eventually("the store answers again", () =>
    flow.parts.store.ping().then(
      () => true,
      () => undefined,
    ),
  );
  await runLeaseFlow(flow);
});

/** A relay to a port of loopback that can keep what new connections send. */
const startHoldingRelay = async (target: number) => {
  const sockets = new Set<Socket>();
  let letGo = Promise.resolve();
  let release = (): void => undefined;
  let held = 0;
  const relay = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    held += 1;
    server.pipe(client);
    void letGo.then(() => client.pipe(server));
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  return {
    port: listeningPort(relay),
    /** Holds what new connections send, from now on. */
    hold() {
      const waiting = Promise.withResolvers<void>();
      letGo = waiting.promise;
      release = waiting.resolve;
      held = 0;
    },
    whenHeld: () => eventually("a connection is held", () => held > 0),
    letGo: () => release(),
    async [Symbol.asyncDispose]() {
      release();
      relay.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};

test("a message about a failover that comes while the client looks for the master does not end the client", async () => {
  await using relay = await startHoldingRelay(sentinel.port);
  const redis = connectRedis(
    `redis-sentinel://:secret@127.0.0.1:${relay.port}/0?master=leases&sentinel_password=watch`,
    silent,
  );
  try {
    await whenReady(redis, 10_000);
    const clients = (): Promise<string> => sentinel.admin().call("CLIENT", "LIST", "TYPE", "pubsub") as Promise<string>;
    await eventually("it listens to the Sentinel", async () => (await clients()).includes("sub=1"));
    const listener = sentinel.admin();
    await listener.subscribe("+switch-master");
    const switched = once(listener, "message");
    relay.hold();
    (redis as Redis).stream.destroy();
    await relay.whenHeld();
    await eventually("the failover begins", () =>
      sentinel
        .admin()
        .call("SENTINEL", "FAILOVER", "leases")
        .then(
          () => true,
          () => undefined,
        ),
    );
    await switched;
    relay.letGo();
    await eventually("it takes commands", () =>
      (redis as Redis).ping().then(
        () => true,
        () => false,
      ),
    );
  } finally {
    redis.disconnect();
  }
});
