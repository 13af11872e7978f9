import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { type LeaseEvent, leaseEventOf, leaseStreamKey } from "../history/lease-event.ts";
import { hookClient } from "./hook-client.ts";
import { hookArguments } from "./hook-options.ts";

let redisUrl: string;
let redis: Redis;
beforeAll(async () => {
  ({ redisUrl } = await sharedServers());
  redis = new Redis(redisUrl);
});
afterAll(() => redis.disconnect());

const startProbe = async (): Promise<ChildProcess> => {
  const { args, env } = hookArguments({ record: true });
  const child = fork(join(import.meta.dirname, "hook-probe.ts"), {
    execArgv: args,
    env: { ...env, REDIS_URL: redisUrl, PATH: process.env.PATH ?? "" },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "message");
  return child;
};

/** Calls methods of the lease store in the process, one after the other; their answers. */
const callAll = async (child: ChildProcess, calls: [string, ...unknown[]][]): Promise<unknown[]> => {
  const answers: unknown[] = [];
  for (const [call, ...args] of calls) {
    child.send({ call, args });
    const [{ answer }] = await once(child, "message");
    answers.push(answer);
  }
  return answers;
};

const recorded = async (pool: string): Promise<LeaseEvent[]> => {
  const entries = (await redis.xrange(leaseStreamKey(pool), "-", "+")) as [string, string[]][];
  return entries.map((entry) => leaseEventOf(pool, entry, 0));
};

const record = { id: "b", pod: "pod", address: "a:1", config: "h", seq: 0, state: "idle" };
/** Calls by which the browser b enters a pool of the first epoch. */
const entering = (pool: string): [string, ...unknown[]][] => [
  ["establish", pool, 1],
  ["repair", pool, { epoch: 1, text: "" }, { record, former: "kept" }],
];
const requested = (request: string): string => JSON.stringify({ tags: { request } });

test("scripts record what they change, in their order", async () => {
  const pool = newId();
  const take = (session: string) =>
    ["take", pool, { session, channel: "nobody", request: requested(session) }] as [string, ...unknown[]];
  await callAll(await startProbe(), [
    ...entering(pool),
    take("s1"),
    take("s2"),
    ["cancel", pool, "s2"],
    ["release", pool, "s1", "releasing", "released"],
    ["offer", pool, { browser: "b", session: "s1" }],
    ["close", pool, "b", "browser_lost"],
  ]);
  const lease = { session: "s1", browser: "b", epoch: 1, seq: 1 };
  const entries = await recorded(pool);
  expect(entries.map(({ after }) => after)).toEqual(["", ...entries.slice(0, -1).map(({ entry }) => entry)]);
  const changesOf = (script: string) =>
    entries.filter((entry) => entry.script === script).map(({ changes }) => changes);
  expect(entries.map(({ script }) => script)).toEqual([
    "establish",
    "repair",
    "take",
    "take",
    "cancel",
    "release",
    "offer",
    "close",
  ]);
  expect(changesOf("establish")).toEqual([[{ what: "epoch", epoch: 1 }]]);
  expect(changesOf("repair")[0]).toContainEqual({ what: "state", browser: "b", from: "none", to: "idle", seq: 0 });
  const [queued] = changesOf("take")[0] ?? [];
  const first = queued?.what === "queued" ? queued.ticket : 0;
  // Microseconds since 1970 have 16 digits, and all of them count.
  expect(first % 1_000_000).not.toBe(0);
  expect(changesOf("take")[0]).toEqual([
    { what: "queued", session: "s1", ticket: first, request: "s1" },
    { what: "state", browser: "b", from: "idle", to: "leased", seq: 1, session: "s1" },
    { what: "granted", ...lease, ticket: first, channel: "nobody", request: "s1" },
  ]);
  expect(changesOf("take")[1]).toEqual([{ what: "queued", session: "s2", ticket: expect.any(Number), request: "s2" }]);
  expect(changesOf("cancel")).toEqual([[{ what: "left", session: "s2" }]]);
  expect(changesOf("release")[0]).toContainEqual({ what: "ended", ...lease, reason: "released" });
  expect(changesOf("release")[0]).not.toContainEqual({ what: "undone", session: "s1" });
  expect(changesOf("close")).toEqual([[{ what: "state", browser: "b", from: "idle", to: "none", seq: 1 }]]);
});

test("a recorded script answers as it does without the recorder", async () => {
  const pool = newId();
  const answers = await callAll(await startProbe(), [
    ...entering(pool),
    ["take", pool, { session: "s", channel: "nobody", request: "{}" }],
    ["cancel", pool, "nobody"],
    ["release", pool, "nobody", "idle", "released"],
    ["snapshot", pool],
  ]);
  expect(answers).toMatchObject([
    true,
    true,
    { kind: "granted", lease: { session: "s", browser: "b", seq: 1 } },
    { kind: "unknown" },
    null,
    { browsers: [{ id: "b", state: "leased" }], waiting: 0 },
  ]);
});

test("a process tells what it holds, can be stalled, and marks an unhandled rejection", async () => {
  const child = await startProbe();
  const client = hookClient(child);
  expect(await client.sample()).toMatchObject({ sockets: 1, children: 0 });
  client.stall(200);
  expect((await client.sample())?.heapBytes).toBeGreaterThan(1e6);
  const log = text(child.stderr as Readable);
  const exited = once(child, "exit");
  child.send({ reject: true });
  await exited;
  expect(await log).toContain('"msg":"test hook: unhandled rejection","reason":"Error: nobody handles this');
  expect(await client.sample()).toBeUndefined();
});

test("a process kills itself at the point that was chosen, and at no other", async () => {
  const child = await startProbe();
  const client = hookClient(child);
  client.killAt("after-status");
  client.killAt(undefined);
  client.killAt("before-create");
  child.send({ pass: "after-status" });
  expect(await client.sample()).toBeDefined();
  const exited = once(child, "exit");
  child.send({ pass: "before-create" });
  expect(await exited).toEqual([null, "SIGKILL"]);
});

test("a process that stands still at a point goes on from there", async () => {
  const child = await startProbe();
  const client = hookClient(child);
  client.freezeAt("before-status");
  child.send({ pass: "before-status" });
  const sampled = client.sample();
  await vi.waitFor(() => expect(readFileSync(`/proc/${child.pid}/stat`, "utf8")).toMatch(/\) T /), 5000);
  child.kill("SIGCONT");
  expect(await sampled).toBeDefined();
});
