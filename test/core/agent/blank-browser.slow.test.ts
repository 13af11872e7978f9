/** The agent of a blank browser, as a process, with what its callers may do in any order. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import type { StartBrowser } from "../../../src/core/protocol/browser-start.ts";
import { sealStream, sealText } from "../../../src/core/protocol/sealed-bytes.ts";
import { type Answer, createTestAgents, runningIn, type TestAgent } from "../../support/agent-process.ts";
import { eventually } from "../../support/eventually.ts";

const agents = createTestAgents();
afterEach(() => agents[Symbol.asyncDispose]());

const blank = (): Promise<TestAgent> => agents.start({ blank: true });

const wanted = { headless: true, kiosk_mode: false, viewport: { width: 901, height: 602 } };

const start = (
  agent: TestAgent,
  session_id: string,
  seq: number,
  more: Partial<StartBrowser> = {},
): Promise<Answer> => {
  const body: StartBrowser = { session_id, epoch: 1, seq, browser: wanted, ...more };
  return agent.call("PUT", "/start", sealText(agent.agentKey, JSON.stringify(body)));
};

const archive = Buffer.from("the bytes of an archive");
const sha256 = createHash("sha256").update(archive).digest("hex");
const withArchive = { setup: { extensions: [], profile: { sha256, bytes: archive.length } } };

const sendArchive = async (agent: TestAgent): Promise<Answer> => {
  const parts: Buffer[] = [];
  for await (const part of sealStream(agent.agentKey, [archive])) parts.push(part);
  return agent.call("PUT", `/archives/${sha256}`, Buffer.concat(parts));
};

const endsWith = async (agent: TestAgent, reason: string): Promise<void> => {
  expect(await agent.exited).toBe(0);
  expect(agent.termination()).toMatchObject({ reason });
};

describe("before anything was given", () => {
  // LEASE-68
  test("it is ready without a browser, and a lease that gives nothing leaves it blank", async () => {
    const agent = await blank();
    expect(existsSync(agent.groupsFile)).toBe(false);
    expect(await agent.bind("a", 1)).toMatchObject({ status: 200, body: { lease: { session_id: "a", seq: 1 } } });
    expect(await agent.release("a", 1, "none")).toMatchObject({ status: 200, body: { lease: null } });
    await agent.bind("b", 2);
    expect(await start(agent, "b", 2)).toEqual({ status: 200, body: { missing: [] } });
    expect(runningIn(agent.groups()).length).toBeGreaterThan(0);
  });

  // LEASE-68
  test("only the lease that holds it gives it settings", async () => {
    const agent = await blank();
    const refused = { status: 409, body: { code: "not_holder" } };
    expect(await start(agent, "a", 1)).toMatchObject(refused);
    await agent.bind("a", 1);
    expect(await start(agent, "b", 1)).toMatchObject(refused);
    expect(await start(agent, "a", 2)).toMatchObject(refused);
    await agent.bind("b", 2);
    expect(await start(agent, "a", 1)).toMatchObject(refused);
    expect(existsSync(agent.groupsFile)).toBe(false);
  });

  test("nothing of a browser is served", async () => {
    const agent = await blank();
    await agent.bind("a", 1);
    expect(await agent.upgrade("a")).not.toBeInstanceOf(WebSocket);
    for (const path of ["/change", "/setup", "/telemetry"])
      expect((await agent.call("PUT", path, {})).status).toBe(404);
  });

  test("an idle lease ends the agent", async () => {
    const agent = await blank();
    await agent.bind("a", 1, { timeout_seconds: 1 });
    await endsWith(agent, "timeout");
  });
});

describe("once something was given", () => {
  // LEASE-69
  test("it is for that lease alone, also while archives are missing", async () => {
    const agent = await blank();
    await agent.bind("a", 1);
    expect(await start(agent, "a", 1, withArchive)).toEqual({ status: 200, body: { missing: [sha256] } });
    expect(await agent.bind("b", 2)).toMatchObject({ status: 503, body: { code: "stopping" } });
    expect(await start(agent, "b", 2)).toMatchObject({ status: 409, body: { code: "not_holder" } });
    await agent.release("a", 1, "none");
    await endsWith(agent, "stopped");
    expect(existsSync(agent.groupsFile)).toBe(false);
  });

  // LEASE-69
  test("the end of the lease ends a browser that was up, whatever it asks for", async () => {
    const agent = await blank();
    await agent.bind("a", 1);
    await start(agent, "a", 1);
    const groups = agent.groups();
    expect((await agent.connect("a")).connected).toBe(true);
    expect(await agent.bind("b", 2)).toMatchObject({ status: 503, body: { code: "stopping" } });
    await agent.release("a", 1, "reset");
    await endsWith(agent, "stopped");
    await eventually("its processes are gone", async () => runningIn(groups).length === 0);
  });

  test("the lease goes on over the start: its fence, its request and its time", async () => {
    const agent = await blank();
    await agent.bind("a", 7, { request: '{"of":"a"}', timeout_seconds: 600 });
    await agent.call("GET", "/state?epoch=4");
    await start(agent, "a", 7);
    const { body } = await agent.call("GET", "/state");
    expect(body).toMatchObject({
      fence: { epoch: 4, seq: 7 },
      lease: { session_id: "a", seq: 7, request: '{"of":"a"}' },
    });
  });

  test("the state can be asked while the browser starts, and a repeated call waits for the same start", async () => {
    const agent = await blank();
    await agent.bind("a", 1);
    const [first, second] = [start(agent, "a", 1), start(agent, "a", 1)];
    expect((await agent.call("GET", "/state")).body).toMatchObject({ lease: { session_id: "a" } });
    expect(await Promise.all([first, second])).toEqual([
      { status: 200, body: { missing: [] } },
      { status: 200, body: { missing: [] } },
    ]);
  });

  test("a browser that does not start is told, and the agent ends", async () => {
    const agent = await blank();
    await agent.bind("a", 1);
    // The archive is no profile.
    await start(agent, "a", 1, withArchive);
    await sendArchive(agent);
    expect(await start(agent, "a", 1, withArchive)).toMatchObject({ status: 503, body: { code: "browser_unhealthy" } });
    expect(await agent.exited).toBe(1);
    expect(agent.termination()?.reason).toMatch(/start_failed|setup_refused/);
  });

  test("an archive that was not asked for, or has other bytes, is refused", async () => {
    const agent = await blank();
    await agent.bind("a", 1);
    expect((await sendArchive(agent)).status).toBe(404);
    await start(agent, "a", 1, withArchive);
    const parts: Buffer[] = [];
    for await (const part of sealStream(agent.agentKey, [Buffer.from("other bytes, as many ..")])) parts.push(part);
    expect((await agent.call("PUT", `/archives/${sha256}`, Buffer.concat(parts))).status).toBe(400);
  });
});
