/**
 * Programs that answer on a browser's address without its agent's key: whatever they say, no caller gets that browser.
 */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { acquireLease } from "../../../src/core/leases/acquire-lease.ts";
import { createSetupClient } from "../../../src/core/leases/agent/setup-client.ts";
import { inspect } from "../../../src/core/leases/inspect.ts";
import type { LeaseRecord } from "../../../src/core/leases/records.ts";
import { releaseLease } from "../../../src/core/leases/release-lease.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { newPodSuffix } from "../../../src/core/protocol/agent-key.ts";
import { createAgentTokens } from "../../../src/core/protocol/agent-token.ts";
import { createSessionNames } from "../../../src/core/reservations/session-names.ts";
import { listeningPort } from "../../../src/platform/base/listening-port.ts";
import { type Impostor, type ImpostorKind, startImpostor } from "../../support/impostor.ts";
import { agentKeys, type LeaseParts, silent, startLeaseParts, startSmallAgent } from "../../support/lease-parts.ts";

const kinds: ImpostorKind[] = ["none", "another-key", "replay"];

let parts: LeaseParts;
let grants: Awaited<ReturnType<LeaseParts["replica"]>>;
let stack: AsyncDisposableStack;
let poolUid: string;

beforeAll(async () => {
  parts = await startLeaseParts();
  grants = await parts.replica();
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(() => {
  poolUid = newId();
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

const newPod = (): string => `shop-${newPodSuffix()}`;
/** `at`: the address that it takes over. */
const impostor = async (kind: ImpostorKind, pod: string, at?: string): Promise<Impostor> => {
  const [host = "127.0.0.1", port = "0"] = at?.split(":") ?? [];
  return stack.use(await startImpostor({ kind, host, port: Number(port), recordedWith: agentKeys.keyOf(pod) }));
};
const genuine = async (pod: string) => stack.use(await startSmallAgent("ok", agentKeys.keyOf(pod)));

const request = () => ({
  timeout_seconds: 60,
  max_session_seconds: 3600,
  pool: { id: "pool", uid: poolUid },
  project: "project",
});
const acquire = async (session: string, waitMs = 20_000): Promise<LeaseRecord | undefined> => {
  const wanted = { poolUid, session, request: request(), waitMs };
  const acquired = await acquireLease(wanted, { ...parts, grants, log: silent }, new AbortController().signal);
  return acquired.kind === "held" ? acquired.lease : undefined;
};
const recordOf = async (id: string) => (await parts.store.snapshot(poolUid)).browsers.find((one) => one.id === id);
const inspectAt = async (id: string, pod: string, address: string) => {
  const { epoch } = await parts.store.snapshot(poolUid);
  const browser = { id, pod, address, configHash: "hash" };
  const names = createSessionNames(parts.redis, parts.store);
  return inspect({ poolUid, epoch, browser }, { ...parts, names, check: () => undefined });
};

test("one that answers without end is cut off, and fills no memory", async () => {
  let sent = 0;
  const flood = createServer((_, response) => {
    const chunk = Buffer.alloc(64 * 1024, " ");
    const send = (): void => {
      sent += chunk.length;
      if (!response.destroyed && sent < 64 * 2 ** 20) response.write(chunk, () => setImmediate(send));
    };
    send();
  }).listen(0, "127.0.0.1");
  stack.defer(() => void flood.close().closeAllConnections());
  await once(flood, "listening");
  const client = createSetupClient({
    tokens: createAgentTokens(generateKeyPairSync("ed25519").privateKey),
    keys: agentKeys,
  });
  stack.defer(() => client.close());
  const address = `127.0.0.1:${listeningPort(flood)}`;
  const answer = await client.sendMasks(
    { browser: newId(), pod: newPod(), address },
    {
      session_id: "s",
      epoch: 1,
      seq: 1,
      values: [],
    },
  );
  expect(answer.kind).not.toBe("ok");
  expect(sent).toBeLessThan(16 * 2 ** 20);
});

describe.each(kinds)("an impostor whose proof is of the kind %s", (kind) => {
  // POD-2
  test("is refused at every call as not genuine, though it says yes to each", async () => {
    const pod = newPod();
    const { address } = await impostor(kind, pod);
    const lease = { browser: newId(), pod, address, session: "s", epoch: 1, seq: 1 } as LeaseRecord;
    const refused = { kind: "refused", code: "not_genuine" };
    const body = { session_id: "s", epoch: 1, seq: 1, timeout_seconds: 60, max_seconds: 3600, request: "{}" };
    expect(await parts.agents.bind(lease, body)).toEqual(refused);
    expect(await parts.agents.end(lease, "reset")).toEqual(refused);
    expect(await parts.agents.afterReset(lease)).toEqual(refused);
    expect(await parts.agents.state(lease, 1)).toEqual(refused);
  });

  // POD-2
  test("gets no caller: the caller gets the next browser, and this one is retired", async () => {
    const [falsePod, pod] = [newPod(), newPod()];
    const bad = await impostor(kind, falsePod);
    const badId = await parts.addBrowser(poolUid, bad.address, "hash", falsePod);
    const good = await genuine(pod);
    const goodId = await parts.addBrowser(poolUid, good.address, "hash", pod);
    expect(await acquire("a")).toMatchObject({ browser: goodId, session: "a" });
    expect(bad.asked).toEqual(["PUT /lease"]);
    expect(await recordOf(badId)).toMatchObject({ state: "suspect", reason: "not_genuine" });
    expect(await inspectAt(badId, falsePod, bad.address)).toMatchObject({
      corrected: [{ why: "Retired", reason: "not_genuine" }],
    });
    expect(await recordOf(badId)).toMatchObject({ state: "retired" });
    expect(await acquire("b", 100)).toBeUndefined();
  });

  // POD-2
  test("that takes over the address of a browser in use does not get it back into the pool", async () => {
    const pod = newPod();
    const agent = await genuine(pod);
    const id = await parts.addBrowser(poolUid, agent.address, "hash", pod);
    expect(await acquire("a")).toMatchObject({ browser: id });
    await agent[Symbol.asyncDispose]();
    const bad = await impostor(kind, pod, agent.address);
    await releaseLease({ poolUid, session: "a", reuse: "reset", reason: "released" }, parts);
    expect(bad.asked).toEqual(["DELETE /lease"]);
    expect(await recordOf(id)).toMatchObject({ state: "suspect", reason: "not_genuine" });
    expect(await acquire("b", 100)).toBeUndefined();
  });

  // POD-2
  test("is found by an inspection of an idle browser, which is retired; one in use stays its holder's", async () => {
    const pod = newPod();
    const agent = await genuine(pod);
    const id = await parts.addBrowser(poolUid, agent.address, "hash", pod);
    expect(await acquire("a")).toMatchObject({ browser: id });
    await agent[Symbol.asyncDispose]();
    await impostor(kind, pod, agent.address);
    expect(await inspectAt(id, pod, agent.address)).toEqual({ is: "silent", isImpostor: true, corrected: [] });
    expect(await recordOf(id)).toMatchObject({ state: "leased", session: "a" });
    const otherPod = newPod();
    const other = await impostor(kind, otherPod);
    const idle = await parts.addBrowser(poolUid, other.address, "hash", otherPod);
    expect((await inspectAt(idle, otherPod, other.address)).corrected).toEqual([
      { why: "Suspected" },
      { why: "Retired", reason: "not_genuine" },
    ]);
  });

  // POD-2
  test("is not registered", async () => {
    const pod = newPod();
    await parts.repairs.establish(poolUid, 1);
    const { address } = await impostor(kind, pod);
    const id = newId();
    expect(await inspectAt(id, pod, address)).toEqual({ is: "silent", isImpostor: true, corrected: [] });
    expect(await recordOf(id)).toBeUndefined();
  });
});

test("the pod's own agent is registered, bound and released by the same calls", async () => {
  const pod = newPod();
  await parts.repairs.establish(poolUid, 1);
  const agent = await genuine(pod);
  const id = newId();
  expect((await inspectAt(id, pod, agent.address)).corrected).toEqual([{ why: "Registered" }]);
  expect(await acquire("a")).toMatchObject({ browser: id });
  await releaseLease({ poolUid, session: "a", reuse: "reset", reason: "released" }, parts);
  expect(await recordOf(id)).toMatchObject({ state: "idle" });
});
