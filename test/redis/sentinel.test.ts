/** A master, its replica and a Sentinel, with callers that wait while the replica takes over. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../src/services/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { type LeaseFlow, runLeaseFlow, startLeaseFlow } from "../support/lease-flow.ts";
import { type RedisServer, startRedisServer } from "../support/redis-servers.ts";

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
  // Writes that still reach the old master are lost, as with any asynchronous replication; the operator's audit repairs that.
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
