/** An agent that is told to stop, as a kubelet does when a pod is drained, with a lease and without. */
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createTestAgents, type TestAgent } from "../../support/agent-process.ts";
import { eventually } from "../../support/eventually.ts";

const agents = createTestAgents();
afterEach(() => agents[Symbol.asyncDispose]());

/** `graceSeconds`: the grace period of its pod. */
const leased = async (graceSeconds: number, more: { timeout_seconds?: number } = {}): Promise<TestAgent> => {
  const agent = await agents.start({}, { env: { BROWSERPOOL_AGENT_GRACE_SECONDS: `${graceSeconds}` } });
  expect((await agent.bind("s", 1, more)).status).toBe(200);
  return agent;
};
const told = async (agent: TestAgent): Promise<void> => {
  agent.child.kill("SIGTERM");
  await eventually("it has been told to stop", () => agent.log().includes("told to stop"));
};
const openSocket = async (agent: TestAgent): Promise<WebSocket> => {
  const socket = await agent.upgrade("s");
  if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`);
  return socket;
};

test("a lease continues: its commands are answered, new connections are taken, and no other session gets the browser", async () => {
  const agent = await leased(600);
  const client = await agent.connect("s");
  await told(agent);
  const page = await client.newPage();
  await page.setContent("<title>still here</title>");
  expect(await page.title()).toBe("still here");
  const further = await openSocket(agent);
  expect(await agent.bind("other", 2)).toMatchObject({ status: 503, body: { code: "stopping" } });
  expect((await agent.bind("s", 1)).status).toBe(200);
  expect((await agent.call("GET", "/readyz")).status).toBe(200);
  expect((await agent.call("GET", "/state")).body.lease?.session_id).toBe("s");

  const closed = once(further, "close");
  expect(await agent.release("s", 1)).toMatchObject({ status: 503, body: { code: "stopping" } });
  await closed;
  expect(await agent.exited).toBe(0);
  expect(agent.termination()).toEqual({ reason: "stopped", message: "the agent was told to stop" });
});

test("the lease is cut with a reason when the grace is nearly over", async () => {
  const agent = await leased(7);
  const closed = once(await openSocket(agent), "close");
  await told(agent);
  await closed;
  expect(await agent.exited).toBe(0);
  expect(agent.termination()).toMatchObject({
    reason: "stopped",
    message: expect.stringMatching(/its lease was not over 2 s later$/),
  });
});

test("the idle timeout of the lease still counts", async () => {
  const agent = await leased(600, { timeout_seconds: 2 });
  await told(agent);
  expect(await agent.exited).toBe(0);
  expect(agent.termination()?.reason).toBe("timeout");
});

test.each([["SIGTERM"], ["SIGINT"]] as const)("the agent ends at once when it is told again, by %s", async (signal) => {
  const agent = await leased(600);
  const closed = once(await openSocket(agent), "close");
  await told(agent);
  agent.child.kill(signal);
  await closed;
  expect(await agent.exited).toBe(0);
  expect(agent.termination()?.reason).toBe("stopped");
});

test("the agent ends at once when it has no lease", async () => {
  const agent = await agents.start({}, { env: { BROWSERPOOL_AGENT_GRACE_SECONDS: "600" } });
  await agent.bind("s", 1);
  await agent.release("s", 1);
  agent.child.kill("SIGTERM");
  expect(await agent.exited).toBe(0);
  expect(agent.termination()?.reason).toBe("stopped");
});
