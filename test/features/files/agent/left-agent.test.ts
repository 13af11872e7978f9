/** What leases leave in their folders, from a real agent with its browser to the API's client. */
import { createSecretKey, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAgentStreams } from "../../../../src/core/leases/agent/agent-stream.ts";
import { createAgentKeys, newPodSuffix } from "../../../../src/core/protocol/agent-key.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { createLeftClient, type LeftClient } from "../../../../src/features/files/left-client.ts";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";

const agents = createTestAgents();
const keys = createAgentKeys(createSecretKey(randomBytes(32)));
const clients = new AsyncDisposableStack();
type Place = { browser: string; pod: string; address: string };
let agent: TestAgent;
let place: Place;
let client: LeftClient;
const start = async (): Promise<{ agent: TestAgent; place: Place; client: LeftClient }> => {
  const pod = `pool-${newPodSuffix()}`;
  const dir = await mkdtemp(join(tmpdir(), "left-agent-"));
  clients.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const env = { BROWSERPOOL_AGENT_DATA_DIR: dir, BROWSERPOOL_AGENT_SCRATCH_DIRS: join(dir, "tmp") };
  const started = await agents.start({}, { agentKey: keys.keyOf(pod), env });
  const deps = { tokens: createAgentTokens(started.privateKey), keys };
  const streams = clients.adopt(createAgentStreams(deps), (each) => each.close());
  return {
    agent: { ...started, dir },
    place: { browser: started.podUid, pod, address: new URL(started.baseUrl).host },
    client: clients.adopt(createLeftClient(deps, streams), (each) => each.close()),
  };
};
beforeAll(async () => {
  ({ agent, place, client } = await start());
});
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  await clients.disposeAsync();
});

const { signal } = new AbortController();
let seq = 0;
const bind = async (session: string, of = agent): Promise<number> => {
  seq += 1;
  expect((await of.bind(session, seq, { keep_files: true })).status).toBe(200);
  return seq;
};
/** Index and bytes of all files together; undefined when the agent has nothing of the session. */
const read = async (session: string, at = place, by = client): Promise<string | object | undefined> => {
  const opened = await by.read(at, session, signal);
  if (opened.kind !== "ok") return undefined;
  const bytes: Buffer[] = [];
  for await (const piece of opened.pieces) {
    if ("bytes" in piece) bytes.push(piece.bytes);
    else if (!("index_bytes" in piece)) return piece;
  }
  return Buffer.concat(bytes).toString();
};
const use = async (session: string, of = agent): Promise<void> => (await of.connect(session)).disconnect();
const filesOf = ({ dir }: TestAgent): string => join(dir, "tmp");

/** What the page shows of a path of this machine; what it can't show becomes a download. */
const seenBy = async (page: Page, path: string): Promise<string> => {
  try {
    await page.goto(`file://${path}`, { timeout: 5000 });
    return await page.content();
  } catch {
    return "";
  }
};

// FILE-12, FILE-14
test.each(["reset", "keep"] as const)(
  "the next holder of a browser that is %s sees nothing of what the API can still read",
  async (reuse) => {
    const [former, next] = [`former-${reuse}`, `next-${reuse}`];
    const at = await bind(former);
    await use(former);
    await mkdir(join(filesOf(agent), "private-folder"), { recursive: true });
    await writeFile(join(filesOf(agent), "private-folder", "private-name.txt"), "private-bytes".repeat(1000));
    expect((await agent.release(former, at, reuse)).status).toBe(200);
    expect((await agent.call("GET", "/reset")).status).toBe(200);

    seq += 1;
    expect((await agent.bind(next, seq, { keep_files: true, takes_kept: true })).status).toBe(200);
    const browser = await agent.connect(next);
    const page = await browser.newPage();
    let seen = await seenBy(page, `${agent.dir}/`);
    for (const name of await readdir(agent.dir)) seen += await seenBy(page, join(agent.dir, name));
    const open = `/proc/${agent.child.pid}/fd`;
    // Some of them have no end.
    for (const fd of await readdir(open)) seen += await seenBy(page, join(open, fd));
    for (const path of [open, filesOf(agent)]) seen += await seenBy(page, `${path}/`);
    expect(seen).toContain("downloads");
    expect(seen).not.toContain("private");
    await browser.disconnect();
    // It got hold of the open file, which tells nothing.
    const got = await readdir(join(filesOf(agent), "downloads"));
    expect(got.length).toBeGreaterThan(0);
    for (const name of got)
      expect(await readFile(join(filesOf(agent), "downloads", name), "latin1")).not.toContain("private");

    const left = await read(former);
    expect(left).toContain('["private-folder"]\t{"name":"private-name.txt"');
    expect(left).toContain("private-bytes".repeat(1000));
    expect((await client.stored(place, former)).kind).toBe("ok");
    expect(await read(former)).toBeUndefined();
    expect((await agent.release(next, seq)).status).toBe(200);
    expect((await agent.call("GET", "/reset")).status).toBe(200);
    expect(await read(next)).not.toContain("private");
  },
  120_000,
);

// FILE-12
test("what a lease leaves is read once it is over, and a lease that is not to be kept leaves nothing", async () => {
  const at = await bind("waited-for");
  await use("waited-for");
  await writeFile(join(filesOf(agent), "file"), "waited-for");
  let left: unknown;
  const reading = read("waited-for").then((what) => {
    left = what;
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(left).toBeUndefined();
  expect((await agent.release("waited-for", at)).status).toBe(200);
  await reading;
  expect(left).toContain("waited-for");
  expect((await agent.call("GET", "/reset")).status).toBe(200);
  seq += 1;
  expect((await agent.bind("other", seq)).status).toBe(200);
  await use("other");
  await writeFile(join(filesOf(agent), "file"), "other");
  expect((await agent.release("other", seq)).status).toBe(200);
  expect(await read("other")).toBeUndefined();
});

// FILE-16
test("an agent that is told to stop waits until what its lease has left is read", async () => {
  const { agent: ending, place: there, client: by } = await start();
  const at = await bind("one-off", ending);
  await use("one-off", ending);
  await writeFile(join(filesOf(ending), "file"), "one-off");
  const reading = read("one-off", there, by);
  expect((await ending.release("one-off", at, "none")).status).toBe(200);
  ending.child.kill("SIGTERM");
  expect(await reading).toContain("one-off");
  expect((await by.stored(there, "one-off")).kind).toBe("ok");
  await ending.exited;
});
