import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createAgentTokens } from "../../../src/core/protocol/agent-token.ts";
import { killRecordedGroups } from "../../../src/platform/process/process-groups.ts";
import { createTestAgents, runningIn, type TestAgent } from "../../support/agent-process.ts";
import { freeze } from "../../support/processes.ts";

const agents = createTestAgents();
afterEach(() => agents[Symbol.asyncDispose]());

const leftovers = (agent: TestAgent): string[] => readdirSync(agent.dir).filter((name) => name !== "termination-log");

/** The pid of Chromium itself, not of a shell script that may have started it. */
const chromiumPid = async (agent: TestAgent): Promise<number> => {
  const client = await agent.connect("s");
  const session = await client.target().createCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await client.disconnect();
  return processInfo.find(({ type }) => type === "browser")?.id ?? 0;
};

const openSocket = async (agent: TestAgent): Promise<WebSocket> => {
  const socket = await agent.upgrade("s");
  if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`);
  return socket;
};

// LEASE-39
test("a browser that does not answer DevTools is not ready and refuses a bind, which uses up the fence", async () => {
  const agent = await agents.start();
  const [group] = agent.groups();
  if (!group) throw new Error("no group on record");
  await freeze(-group);
  expect(await agent.call("GET", "/readyz")).toMatchObject({ status: 503, body: { code: "browser_unhealthy" } });
  expect((await agent.call("GET", "/livez")).status).toBe(200);
  expect(await agent.bind("s", 1)).toMatchObject({ status: 503, body: { code: "browser_unhealthy" } });
  process.kill(-group, "SIGCONT");
  expect((await agent.call("GET", "/readyz")).status).toBe(200);
  expect(await agent.bind("s", 1)).toMatchObject({ status: 409, body: { code: "stale_fence" } });
  expect((await agent.bind("s", 2)).status).toBe(200);
});

test("a bind whose caller hangs up while the browser does not answer leaves no lease, and uses up the fence", async () => {
  const agent = await agents.start();
  const [group] = agent.groups();
  if (!group) throw new Error("no group on record");
  const hangUp = new AbortController();
  const token = createAgentTokens(agent.privateKey).tokenFor(agent.podUid);
  await freeze(-group);
  const asked = fetch(`${agent.baseUrl}/lease`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ session_id: "s", epoch: 1, seq: 1, timeout_seconds: 60, max_seconds: 3600, request: "{}" }),
    signal: hangUp.signal,
  });
  const gone = expect(asked).rejects.toThrow();
  await expect.poll(async () => (await agent.call("GET", "/state")).body.binding).toBe("s");
  hangUp.abort();
  await gone;
  process.kill(-group, "SIGCONT");
  await expect.poll(async () => (await agent.call("GET", "/state")).body).toMatchObject({ binding: null, lease: null });
  await expect.poll(agent.log).toContain("lease ended");
  expect(await agent.bind("s", 1)).toMatchObject({ status: 409, body: { code: "stale_fence" } });
});

describe.each([{ headless: true }, { headless: false }])("with headless $headless", ({ headless }) => {
  test("a killed Chromium ends the agent: sockets are closed, nothing is left", async () => {
    const agent = await agents.start({ headless });
    await agent.bind("s", 1);
    const socket = await openSocket(agent);
    const groups = agent.groups();
    expect(runningIn(groups)).not.toEqual([]);
    const closed = once(socket, "close");
    process.kill(await chromiumPid(agent), "SIGKILL");
    await closed;
    expect(await agent.exited).toBe(1);
    expect(agent.termination()?.reason).toBe("browser_crashed");
    expect(runningIn(groups)).toEqual([]);
    expect(leftovers(agent)).toEqual([]);
  });

  test("SIGTERM ends the agent and leaves nothing", async () => {
    const agent = await agents.start({ headless });
    await agent.bind("s", 1);
    const closed = once(await openSocket(agent), "close");
    const groups = agent.groups();
    agent.child.kill("SIGTERM");
    await closed;
    expect(await agent.exited).toBe(0);
    expect(agent.termination()?.reason).toBe("stopped");
    expect(runningIn(groups)).toEqual([]);
    expect(leftovers(agent)).toEqual([]);
  });

  test("the record of process groups is enough to end what a killed agent left", async () => {
    const agent = await agents.start({ headless });
    const groups = agent.groups();
    agent.child.kill("SIGKILL");
    await agent.exited;
    expect(runningIn(groups)).not.toEqual([]);
    await killRecordedGroups(agent.groupsFile);
    expect(runningIn(groups)).toEqual([]);
    expect(readdirSync(agent.dir)).not.toContain("process-groups");
  });
});

test("an agent works in a pod folder with a long path", async () => {
  const folder = await mkdtemp(join(tmpdir(), "x".repeat(90)));
  onTestFinished(() => rm(folder, { recursive: true }));
  const agent = await agents.start({ headless: false }, { env: { BROWSERPOOL_AGENT_DATA_DIR: folder } });
  expect((await agent.bind("s", 1)).status).toBe(200);
  agent.child.kill("SIGTERM");
  expect(await agent.exited).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

test("an agent that has only long paths says that TMPDIR must be shorter", async () => {
  const folder = await mkdtemp(join(tmpdir(), "x".repeat(90)));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = { BROWSERPOOL_AGENT_DATA_DIR: folder, TMPDIR: folder };
  const agent = await agents.start({ headless: false }, { env, ready: false });
  expect(await agent.exited).toBe(1);
  expect(agent.termination()).toMatchObject({
    reason: "start_failed",
    message: expect.stringMatching(/ characters too long .* TMPDIR /),
  });
  expect(readdirSync(folder)).toEqual([]);
});

test("an agent that is stopped while Chromium starts leaves nothing", async () => {
  const folder = await mkdtemp(join(tmpdir(), "slow-chromium-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const slow = join(folder, "chromium");
  await writeFile(slow, "#!/bin/sh\nsleep 100\n", { mode: 0o755 });
  const agent = await agents.start({}, { ready: false, env: { BROWSERPOOL_CHROMIUM_HEADLESS: slow } });
  await expect.poll(() => readdirSync(agent.dir)).toContain("process-groups");
  await expect.poll(() => runningIn(agent.groups()).length).toBeGreaterThan(0);
  const groups = agent.groups();
  agent.child.kill("SIGTERM");
  expect(await agent.exited).toBe(0);
  expect(agent.termination()?.reason).toBe("stopped");
  expect(runningIn(groups)).toEqual([]);
  expect(leftovers(agent)).toEqual([]);
});

test.each([
  ["is missing", { BROWSERPOOL_CHROMIUM_HEADLESS: "/nowhere/chromium" }, /could not be started.*ENOENT|not found/],
  ["ends at once", { BROWSERPOOL_CHROMIUM_HEADLESS: "/bin/false" }, /Chromium ended with code 1/],
  ["complains", { BROWSERPOOL_CHROMIUM_HEADLESS: "/bin/ls" }, /unrecognized option/],
  [
    "is ready, with an address to listen on that isn't this machine's,",
    { BROWSERPOOL_AGENT_ADDRESS: "192.0.2.1" },
    /192\.0\.2\.1/,
  ],
])("a Chromium that %s is reported as a failed start, and nothing is left", async (_, env, message) => {
  const agent = await agents.start({}, { env, ready: false });
  expect(await agent.exited).toBe(1);
  expect(agent.termination()?.reason).toBe("start_failed");
  expect(agent.termination()?.message).toMatch(message);
  expect(leftovers(agent)).toEqual([]);
});

describe("the idle timeout", () => {
  test("ends the browser when the lease had no connection for its length", async () => {
    const agent = await agents.start();
    await agent.bind("s", 1, { timeout_seconds: 1 });
    expect(await agent.exited).toBe(0);
    expect(agent.termination()?.reason).toBe("timeout");
    expect(leftovers(agent)).toEqual([]);
  });

  // LEASE-31
  test("does not run while a client is connected, and starts again when the last one leaves", async () => {
    const agent = await agents.start();
    await agent.bind("s", 1, { timeout_seconds: 1 });
    const [one, other] = [await openSocket(agent), await openSocket(agent)];
    one.close();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect((await agent.call("GET", "/state")).body.lease?.connections).toBe(1);
    other.close();
    expect(await agent.exited).toBe(0);
    expect(agent.termination()?.reason).toBe("timeout");
  });

  // LEASE-32
  test("stops at the release", async () => {
    const agent = await agents.start();
    await agent.bind("s", 1, { timeout_seconds: 1 });
    await agent.release("s", 1);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect((await agent.call("GET", "/readyz")).status).toBe(200);
  });
});
