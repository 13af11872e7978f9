/**
 * A queue that came back with another run of the server, whose older data it is from: before the operator has raised
 * the epoch.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { eventually } from "../../support/eventually.ts";
import { type LeaseFlow, startLeaseFlow } from "../../support/lease-flow.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-servers.ts";

let server: RedisServer;
let flow: LeaseFlow;
let poolUid: string;

beforeEach(async () => {
  server = await startRedisServer(["appendonly yes", "appendfsync always"]);
  flow = await startLeaseFlow(`redis://127.0.0.1:${server.port}`);
  poolUid = newId();
  await flow.parts.repairs.establish(poolUid, 1);
});
afterEach(async () => {
  await flow[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** It comes back with all its data. */
const restart = async (): Promise<void> => {
  await server.restart();
  await eventually("the service is connected", () =>
    flow.parts.store.ping().then(
      () => true,
      () => false,
    ),
  );
};

/** What a caller leaves in the queue when its grant was lost: it does not wait any more, and its replica lives. */
const leaveInQueue = async (session: string): Promise<void> => {
  const { grants, parts } = flow;
  await grants.follow(poolUid);
  const taking = { session, channel: grants.channel(poolUid), request: "{}" };
  expect(await parts.store.take(poolUid, taking)).toMatchObject({ kind: "waiting" });
};

// LEASE-42
test("a caller of the old queue, who does not wait any more, gets no browser", async () => {
  await leaveInQueue("served");
  await restart();
  const waits = flow.acquire(poolUid, "waits");
  await flow.whenWaiting(poolUid, 2);
  const browser = await flow.addBrowser(poolUid);
  expect(await waits).toMatchObject({ kind: "held", lease: { browser } });
  const { lease } = await flow.parts.repairs.session(poolUid, "served");
  expect(lease).toBeUndefined();
});

// LEASE-42
test("callers who wait get theirs, in their order", async () => {
  const first = flow.acquire(poolUid, "first");
  await flow.whenWaiting(poolUid, 1);
  const second = flow.acquire(poolUid, "second");
  await flow.whenWaiting(poolUid, 2);
  await restart();
  const browser = await flow.addBrowser(poolUid);
  expect(await first).toMatchObject({ kind: "held", lease: { browser } });
  await flow.release(poolUid, "first");
  expect(await second).toMatchObject({ kind: "held", lease: { browser } });
});
