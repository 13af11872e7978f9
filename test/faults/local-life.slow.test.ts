/** The life of local mode: start, stop, kill and restart. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { viewLeases } from "../support/lease-view.ts";
import { type LocalStack, startLocalStack } from "../support/local-stack.ts";
import { fullPool, openCdp, poolAt } from "../support/pool-client.ts";
import { isAlive, processesOf } from "../support/processes.ts";

const root = join(import.meta.dirname, "../..");
const main = join(root, "src/main.ts");
let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "bp-"));
});
afterAll(async () => {
  for (const { pid } of await processesOf(dataDir)) process.kill(pid, "SIGKILL");
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

let stacks: LocalStack[] = [];
/** What a failed test has left would keep the next one from its data. */
afterEach(async () => {
  for (const stack of stacks) {
    await stack.stop();
    await stack.kube.close();
  }
  stacks = [];
});
const start = async (args: string[] = []): Promise<LocalStack> => {
  const stack = await startLocalStack({ dataDir, args });
  stacks.push(stack);
  return stack;
};

type Ended = { code: number | null; output: string };

/** Runs local mode until it ends by itself. */
const runLocal = async (
  args: string[],
  program: [string, ...string[]] = [process.execPath, main, "local"],
): Promise<Ended> => {
  const [command, ...first] = program;
  const child = spawn(command, [...first, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const [code] = await once(child, "close");
  return { code, output };
};
const podFolders = (): Promise<string[]> => readdir(join(dataDir, "pods")).catch(() => []);
const nothingRuns = () => eventually("nothing of it runs", async () => (await processesOf(dataDir)).length === 0);
/** Kills only this process, as a crash does. */
const crash = async (stack: LocalStack): Promise<void> => {
  const exited = once(stack.process, "exit");
  stack.process.kill("SIGKILL");
  await exited;
};

describe("local mode", () => {
  let poolId: string;
  let apiKey: string;

  // STREAM-4
  test("ends at Ctrl-C, tells so in open streams, and leaves no process, no pod and no local.json; the data stays", async () => {
    const stack = await start();
    const local = join(dataDir, "local.json");
    expect((await stat(local)).mode & 0o777).toBe(0o600);
    apiKey = stack.api_key;
    const pool = await fullPool(stack.call, 2);
    poolId = pool.id;
    const session = await pool.acquire();
    const cdp = await openCdp(session);
    const agentLog = { source: "supervisor", supervisor_process: "agent", follow: true } as const;
    const events: unknown[] = [];
    let stopped: Promise<number | null> | undefined;
    for await (const event of await stack.kernel.browsers.logs.stream(session.session_id, agentLog)) {
      events.push(event);
      stopped ??= stack.stop();
    }
    expect(await stopped).toBe(0);
    expect(events.at(-1)).toMatchObject({
      event: "error",
      error: { code: "unavailable", message: expect.stringContaining("stopping") },
    });
    await cdp.closed;
    expect(await processesOf(dataDir)).toEqual([]);
    expect(await podFolders()).toEqual([]);
    await expect(access(local)).rejects.toThrow("ENOENT");
  });

  test("has its key and its pools after a restart, with warm browsers and no lease of the former run", async () => {
    const stack = await start();
    expect(stack.api_key).toBe(apiKey);
    await poolAt(stack.call, poolId).whenCounts({ acquired: 0, available: 2 });
  });

  test("was killed while browsers were leased and callers waited: the next start ends what is left and converges", async () => {
    const stack = await start();
    const pool = poolAt(stack.call, poolId);
    await pool.whenCounts({ acquired: 0, available: 2 });
    const sessions = [await pool.acquire(), await pool.acquire()];
    const waiting = pool.ask().catch(() => undefined);
    const leases = await viewLeases(stack.redis_url, stack.kube);
    await eventually(
      "a caller waits",
      async () => (await leases.store.snapshot(await leases.uidOf(poolId))).waiting === 1,
    );
    leases.close();
    const former = (await processesOf(dataDir)).map(({ pid }) => pid).filter((pid) => pid !== stack.pid);
    expect(former.length).toBeGreaterThan(5);
    await crash(stack);
    await waiting;

    const next = await start();
    const again = poolAt(next.call, poolId);
    // No caller waits any more: a browser for the dead caller would not count as available.
    await again.whenCounts({ acquired: 0, available: 2 });
    for (const { session_id } of sessions) {
      const answer = await next.call("GET", `/browsers/${session_id}`);
      expect(answer.status).toBe(404);
      expect(((await answer.json()) as { message: string }).message).toMatch(/has ended \(browser_lost\) at /);
    }
    expect(await Promise.all(former.map(isAlive))).not.toContain(true);
    expect(await podFolders()).toHaveLength(2);
    const cdp = await openCdp(await again.acquire());
    expect(await cdp.version()).toContain("Chrome");
  });

  test("starts empty with --fresh", async () => {
    const stack = await start(["--fresh"]);
    expect(stack.api_key).not.toBe(apiKey);
    expect(await (await stack.call("GET", "/browser_pools")).json()).toEqual([]);

    const second = await runLocal(["--port", "0", "--data-dir", dataDir]);
    expect(second.code).toBe(0);
    expect(second.output).toContain(`runs already: ${stack.url} (process ${stack.pid}, data in ${dataDir})`);
    expect((await stack.call("GET", "/readyz")).status).toBe(200);

    const exited = once(stack.process, "exit");
    stack.process.kill("SIGINT");
    await eventually(
      "it is stopping",
      async () => (await stack.call("GET", "/readyz").catch(() => undefined)) === undefined,
    );
    stack.process.kill("SIGINT");
    expect((await exited)[0]).toBe(130);
    await nothingRuns();
  });

  test("names the port that is in use, and starts nothing", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { code, output } = await runLocal(["--port", String(port), "--data-dir", dataDir]);
    server.close();
    expect(code).toBe(1);
    const holder = `node (process ${process.pid})`;
    expect(output).toContain(`port ${port} of 127.0.0.1 is taken by ${holder}: choose another one with --port`);
    expect(await processesOf(dataDir)).toEqual([]);
  });
});

test("a full disk is named before anything is started", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bp-"));
  const command = `mount -t tmpfs -o size=30m none ${folder} && exec ${process.execPath} ${main} local --port 0 --data-dir ${folder}`;
  const child = spawn("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", command], { cwd: root });
  const [[code], text] = await Promise.all([once(child, "exit"), textOf(child.stderr)]);
  expect(code).toBe(1);
  expect(text).toMatch(/^browserpool: \d+ MiB are free for \S+, of 300 MiB that a start needs/);
  await rm(folder, { recursive: true, force: true });
});

test("SIGTERM ends local mode in order behind a shell that replaces itself, as under npm start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bp-"));
  const script = `true && exec ${process.execPath} ${main} local --port 0 --data-dir ${folder}`;
  const child = spawn("sh", ["-c", script], { cwd: root, stdio: "ignore" });
  await eventually("it is ready", () =>
    access(join(folder, "local.json")).then(
      () => true,
      () => false,
    ),
  );
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(await processesOf(folder)).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});
