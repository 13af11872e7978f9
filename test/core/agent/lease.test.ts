import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createAgentTokens } from "../../../src/core/protocol/agent-token.ts";
import { createTestAgents, type TestAgent } from "../../support/agent-process.ts";

const agents = createTestAgents();
let agent: TestAgent;
let seq = 0;

/** Binds a session with a fence above all earlier ones. */
const bound = async (session: string): Promise<number> => {
  seq += 1;
  expect((await agent.bind(session, seq)).status).toBe(200);
  return seq;
};

const open = async (session: string): Promise<WebSocket> => {
  const socket = await agent.upgrade(session);
  if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`);
  return socket;
};

beforeAll(async () => {
  agent = await agents.start();
});
afterAll(() => agents[Symbol.asyncDispose]());

describe("a lease", () => {
  // LEASE-20
  test("lets its session drive the browser until the release, which cuts its sockets", async () => {
    const fence = await bound("drive");
    const client = await agent.connect("drive");
    const page = await client.newPage();
    await page.setContent("<title>Hello</title>");
    expect(await page.title()).toBe("Hello");
    expect((await agent.call("GET", "/state")).body).toMatchObject({
      pod_uid: agent.podUid,
      fence: { epoch: 1, seq: fence },
      lease: { session_id: "drive", epoch: 1, seq: fence, connections: 1 },
    });

    const cut = new Promise((resolve) => client.once("disconnected", resolve));
    const released = await agent.release("drive", fence);
    expect(released).toMatchObject({ status: 200, body: { lease: null, fence: { epoch: 1, seq: fence } } });
    await cut;
    expect(await agent.upgrade("drive")).toBe(404);
  });

  test("carries messages of many megabytes both ways", async () => {
    const fence = await bound("large");
    const client = await agent.connect("large");
    const page = await client.newPage();
    const text = "x".repeat(8_000_000);
    expect(await page.evaluate((sent) => `${sent}!`, text)).toBe(`${text}!`);
    await page.close();
    await client.disconnect();
    await agent.release("large", fence);
  });

  test("can be followed by the next one on the same browser", async () => {
    await agent.release("first", await bound("first"));
    const fence = await bound("second");
    const client = await agent.connect("second");
    expect(await client.version()).toContain("Chrome");
    await client.disconnect();
    await agent.release("second", fence);
  });

  // LEASE-38
  test("with a newer fence replaces the previous lease and cuts its sockets", async () => {
    await bound("old");
    const socket = await open("old");
    const closed = once(socket, "close");
    const fence = await bound("new");
    await closed;
    expect(await agent.upgrade("old")).toBe(404);
    expect((await agent.call("GET", "/state")).body.lease).toMatchObject({ session_id: "new", connections: 0 });
    await agent.release("new", fence);
  });

  // LEASE-37
  test("is refused when its fence is not above the highest, and the holder keeps the browser", async () => {
    const fence = await bound("holder");
    expect(await agent.bind("late", fence)).toMatchObject({ status: 409, body: { code: "stale_fence" } });
    expect(await agent.bind("later", fence - 1)).toMatchObject({ status: 409, body: { code: "stale_fence" } });
    expect((await agent.call("GET", "/state")).body.lease?.session_id).toBe("holder");
    await agent.release("holder", fence);
  });

  test("can be bound and released twice with the same answer, and can't be bound after its release", async () => {
    const fence = await bound("twice");
    const socket = await open("twice");
    expect((await agent.bind("twice", fence)).status).toBe(200);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    expect((await agent.release("twice", fence)).status).toBe(200);
    expect((await agent.release("twice", fence)).status).toBe(200);
    expect((await agent.bind("twice", fence)).status).toBe(409);
  });

  test("is not released by another session or fence", async () => {
    const fence = await bound("mine");
    expect(await agent.release("other", fence)).toMatchObject({ status: 409, body: { code: "not_holder" } });
    expect(await agent.release("mine", fence - 1)).toMatchObject({ status: 409, body: { code: "not_holder" } });
    const socket = await open("mine");
    socket.close();
    await agent.release("mine", fence);
  });

  // LEASE-40
  test("goes to the bind with the highest fence when many arrive at once", async () => {
    const fences = [3, 1, 5, 2, 4].map((step) => seq + step);
    seq += 5;
    const answers = await Promise.all(fences.map((fence) => agent.bind(`s${fence}`, fence)));
    const { lease } = (await agent.call("GET", "/state")).body;
    expect(lease).toMatchObject({ session_id: `s${seq}`, seq });
    expect(answers.find((answer) => answer.body.lease?.seq === seq)?.status).toBe(200);
    for (const fence of fences.filter((other) => other !== seq)) expect(await agent.upgrade(`s${fence}`)).toBe(404);
    await agent.release(`s${seq}`, seq);
  });

  // LIMIT-11
  test("has at most 64 sockets", async () => {
    const fence = await bound("many");
    const sockets = await Promise.all(Array.from({ length: 64 }, () => open("many")));
    expect(await agent.upgrade("many")).toBe(429);
    sockets[0]?.terminate();
    await expect.poll(async () => (await agent.call("GET", "/state")).body.lease?.connections).toBe(63);
    const again = await open("many");
    const all = [...sockets.slice(1), again].map((socket) => once(socket, "close"));
    await agent.release("many", fence);
    await Promise.all(all);
  });
});

describe("a caller", () => {
  const tokenOf = (other: Parameters<typeof createAgentTokens>): string =>
    createAgentTokens(...other).tokenFor(agent.podUid);

  test.each([
    ["no token", () => null],
    ["a malformed token", () => "abc"],
    ["a token signed with another key", () => tokenOf([generateKeyPairSync("ed25519").privateKey])],
    ["a token for another pod", () => createAgentTokens(agent.privateKey).tokenFor("another-pod")],
    [
      "a token that has expired",
      () => tokenOf([agent.privateKey, { wall: () => Date.now() - 3_600_000, monotonic: () => 0 }]),
    ],
  ])("with %s may do nothing", async (_, make) => {
    const fence = await bound("guarded");
    const token = make();
    const lease = { session_id: "guarded", epoch: 1, seq: fence, timeout_seconds: 60, max_seconds: 3600 };
    for (const [method, path, body] of [
      ["GET", "/state", undefined],
      ["PUT", "/lease", { ...lease, seq: fence + 1 }],
      ["DELETE", "/lease", lease],
      ["GET", "/nothing", undefined],
    ] as const) {
      expect(await agent.call(method, path, body, token)).toMatchObject({
        status: 401,
        body: { code: "unauthorized", now: expect.closeTo(Date.now(), -5) },
      });
    }
    expect(await agent.upgrade("guarded", token ?? "")).toBe(401);
    expect((await agent.call("GET", "/state")).body.lease).toMatchObject({ session_id: "guarded", connections: 0 });
  });

  test("gets 404 for the upgrade of a session that does not hold the browser", async () => {
    await bound("right");
    expect(await agent.upgrade("wrong")).toBe(404);
    expect(await agent.upgrade("")).toBe(404);
  });

  test.each([
    ["a body that is not JSON", ["PUT", "/lease", "{"], [400, "bad_request"]],
    ["a body without a fence", ["PUT", "/lease", { session_id: "x" }], [400, "bad_request"]],
    ["a body of more than 1 MiB", ["PUT", "/lease", " ".repeat(1_100_000)], [413, "payload_too_large"]],
    ["an invalid epoch", ["GET", "/state?epoch=-1", undefined], [400, "bad_request"]],
    ["a path that does not exist", ["GET", "/constructor"], [404, "not_found"]],
    ["a wrong method", ["POST", "/lease", {}], [405, "method_not_allowed"]],
    ["a plain GET of the WebSocket", ["GET", "/cdp"], [426, "upgrade_required"]],
  ] as const)("with %s is refused", async (_, [method, path, body], [status, code]) => {
    expect(await agent.call(method, path, body)).toMatchObject({ status, body: { code } });
  });
});

test("logs contain no token and no page", async () => {
  seq += 1;
  await agent.bind("quiet", seq, { start_url: "http://127.0.0.1:9/private-page" });
  await expect.poll(agent.log).toContain("lease bound");
  expect(agent.log()).not.toMatch(/eyJ|private-page|Bearer/);
});

// Last in this file: later tests could not take a lease of the first epoch.
test("a lease and its socket survive a raise of the epoch, and later binds of the old epoch are refused", async () => {
  const fence = await bound("kept");
  const socket = await open("kept");
  const asked = await agent.call("GET", "/state?epoch=2");
  expect(asked).toMatchObject({
    status: 200,
    body: { fence: { epoch: 2, seq: fence }, lease: { session_id: "kept", connections: 1, request: "{}" } },
  });
  expect(await agent.bind("late", fence + 1)).toMatchObject({ status: 409, body: { code: "stale_fence" } });
  expect(socket.readyState).toBe(WebSocket.OPEN);
  expect((await agent.release("kept", fence)).status).toBe(200);
  expect((await agent.bind("next", fence + 1, { epoch: 2 })).status).toBe(200);
});
