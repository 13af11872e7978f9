/** The processes of a browser behind a wall: their rights, and that none of them outlives it. */
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { listeningPort } from "../../../../src/platform/base/listening-port.ts";
import { killRecordedGroups } from "../../../../src/platform/process/process-groups.ts";
import { createTestAgents, runningIn, type TestAgent } from "../../../support/agent-process.ts";
import { ownAddress } from "../../../support/wall/machine.ts";

const agents = createTestAgents();
afterEach(() => agents[Symbol.asyncDispose]());

/** Kills a process of Chromium. One that has ended meanwhile is as good. */
const killChromium = (pid: number): void => {
  try {
    if (/chrom/.test(readFileSync(`/proc/${pid}/comm`, "utf8"))) process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!/ENOENT|ESRCH/.test(String(error))) throw error;
  }
};
const namespaceOf = (pid: number | "self"): string => readlinkSync(`/proc/${pid}/ns/net`);

/** The rights and the namespace of a process; undefined when it has ended meanwhile. */
const stateOf = (pid: number): { status: string; namespace: string } | undefined => {
  try {
    return { status: readFileSync(`/proc/${pid}/status`, "utf8"), namespace: namespaceOf(pid) };
  } catch {
    return undefined;
  }
};
const socketsOf = ({ dir }: TestAgent): string[] =>
  readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".sock"));

const walled = async (): Promise<TestAgent> => {
  const agent = await agents.start({}, { setup: { network: {} } });
  expect((await agent.bind("s", 1)).status).toBe(200);
  return agent;
};

// NETWORK-11
test("no process of the browser has a right, or is in the machine's network", async () => {
  const agent = await walled();
  const states = runningIn(agent.groups()).flatMap((pid) => stateOf(pid) ?? []);
  expect(states.length).toBeGreaterThan(4);
  for (const { status, namespace } of states) {
    expect(status).toMatch(/CapInh:\t0+\nCapPrm:\t0+\nCapEff:\t0+\nCapBnd:\t0+\nCapAmb:\t0+\n/);
    expect(namespace).not.toBe(namespaceOf("self"));
  }
});

test("a forwarder of DevTools that starts later than Chromium is waited for", async () => {
  const folder = await mkdtemp(join(tmpdir(), "slow-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const script =
    '#!/bin/sh\nPATH=$(echo $PATH | cut -d: -f2-)\ncase $1 in UNIX-LISTEN*) sleep 3 ;; esac\nexec socat "$@"\n';
  await writeFile(join(folder, "socat"), script, { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const agent = await agents.start({}, { setup: { network: {} }, env });
  expect((await agent.bind("s", 1)).status).toBe(200);
});

test("an agent that is killed leaves a record by which every process is ended", async () => {
  const agent = await walled();
  const groups = agent.groups();
  agent.child.kill("SIGKILL");
  await agent.exited;
  expect(runningIn(groups).length).toBeGreaterThan(0);
  await killRecordedGroups(agent.groupsFile);
  expect(runningIn(groups)).toEqual([]);
});

test("an agent that is told to stop ends every process and removes every socket", async () => {
  const agent = await walled();
  const groups = agent.groups();
  expect(socketsOf(agent)).toHaveLength(2);
  agent.child.kill("SIGTERM");
  expect(await agent.exited).toBe(0);
  expect(runningIn(groups)).toEqual([]);
  expect(socketsOf(agent)).toEqual([]);
});

test("a browser that crashes takes every process and socket with it", async () => {
  const agent = await walled();
  const groups = agent.groups();
  runningIn(groups).forEach(killChromium);
  expect(await agent.exited).toBe(1);
  expect(runningIn(groups)).toEqual([]);
  expect(socketsOf(agent)).toEqual([]);
});

test("a reset cuts the tunnels of the holder before it, and the next one has a wall again", async () => {
  const agent = await walled();
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    opened.resolve();
    // Only who reads a socket learns of its end.
    socket
      .on("error", () => undefined)
      .once("close", () => closed.resolve())
      .resume();
  }).listen(0, ownAddress);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const first = await agent.connect("s");
  const page = await first.newPage();
  await page.evaluate(`void new WebSocket("ws://${ownAddress}:${listeningPort(server)}/")`);
  await opened.promise;
  const groups = agent.groups();
  await agent.release("s", 1, "reset");
  await closed.promise;
  expect((await agent.call("GET", "/reset")).status).toBe(200);
  expect(runningIn(groups)).toEqual([]);
  await agent.bind("t", 2);
  const second = await agent.connect("t");
  const answer = await (await second.newPage()).goto(`http://127.0.0.1:${listeningPort(server)}/`);
  expect(answer?.status()).toBe(403);
  expect(socketsOf(agent)).toHaveLength(2);
});
