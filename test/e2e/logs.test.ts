/** `GET /browsers/{id}/logs/stream`, as the SDK reads it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import Kernel from "@onkernel/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docExamples } from "../support/doc-examples.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let pool: string;
beforeAll(async () => {
  stack = await startProject();
  pool = (await filledPool(stack.kernel, { size: 1 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const acquire = async (): Promise<string> =>
  (await stack.kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 30 })).session_id;
const release = (session_id: string): Promise<void> => stack.kernel.browserPools.release(pool, { session_id });

const agentLog = { source: "supervisor", supervisor_process: "agent" } as const;
const pathOf = (session: string, query: Record<string, string>): string =>
  `/browsers/${session}/logs/stream?${new URLSearchParams(query)}`;

// LOG-1, LOG-2
test("the SDK reads a log by both of its names, and follows it to the end of its session", async () => {
  const session = await acquire();
  for (const query of [agentLog, { source: "path", path: "/var/log/agent.log" } as const]) {
    const lines = [];
    for await (const line of await stack.kernel.browsers.logs.stream(session, query)) lines.push(line);
    expect(lines).toEqual([{ event: "log", message: "info lease bound", timestamp: expect.any(String) }]);
  }
  const followed = await stack.kernel.browsers.logs.stream(session, { ...agentLog, follow: true });
  const messages: string[] = [];
  for await (const { message } of followed) {
    messages.push(message);
    await release(session);
  }
  expect(messages).toEqual(["info lease bound"]);
});

// HTTP-41
test("below the session's base_url its token reads the log, and no other token does", async () => {
  const lease = (name: string) => stack.kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60, name });
  const session = await lease("below");
  const below = new URL(`${session.base_url}/logs/stream?${new URLSearchParams(agentLog)}`);
  expect((await fetch(below)).status).toBe(401);
  const token = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "";
  below.searchParams.set("jwt", token);
  const read = await fetch(below);
  expect([read.status, await read.text()]).toEqual([200, expect.stringContaining('"message":"info lease bound"')]);
  below.searchParams.delete("source");
  expect((await fetch(below)).status).toBe(400);
  await release(session.session_id);
  const next = await lease("next");
  const other = new URL(`${next.base_url}/logs/stream?${new URLSearchParams({ ...agentLog, jwt: token })}`);
  expect((await fetch(other)).status).toBe(401);
  await release(next.session_id);
});

// LOG-4
test("other names, other sessions and other callers get no log", async () => {
  const session = await acquire();
  const answerTo = async (of: string, query: Record<string, string>, headers = {}): Promise<[number, string]> => {
    const response = await stack.call("GET", pathOf(of, query), undefined, headers);
    return [response.status, await response.text()];
  };
  expect(await answerTo(session, {})).toEqual([400, expect.stringContaining('"path":"source"')]);
  expect(await answerTo(session, { source: "path" })).toEqual([400, expect.stringContaining('"path":"path"')]);
  const missing = await answerTo(session, { source: "supervisor" });
  expect(missing).toEqual([400, expect.stringContaining('"path":"supervisor_process"')]);
  for (const path of ["/etc/passwd", "/var/log/../log/agent.log", "__proto__"])
    expect(await answerTo(session, { source: "path", path })).toEqual([
      404,
      expect.stringContaining("there is no log"),
    ]);
  expect((await answerTo("unknown", agentLog))[0]).toBe(404);

  const project = await stack.kernel.projects.create({ name: "other" });
  expect((await answerTo(session, agentLog, { "x-kernel-project-id": project.id }))[0]).toBe(404);
  const made = await stack.call("POST", "/org/api_keys", { name: "reader", permissions: ["pools:read"] });
  const { key } = (await made.json()) as { key: string };
  expect((await answerTo(session, agentLog, { authorization: `Bearer ${key}` }))[0]).toBe(403);

  await release(session);
  expect((await answerTo(session, agentLog))[0]).toBe(404);
});

test("the examples of docs/logs.md work", async () => {
  const [script = ""] = docExamples("logs.md", "sh");
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
    env: { ...process.env, KERNEL_BASE_URL: stack.url, KERNEL_API_KEY: stack.api_key },
  });
  expect(stdout).toContain('data: {"event":"log","message":"info lease bound"');
});

// STREAM-6
test("a session has a bound on its streams, which one that ends makes room in", async () => {
  const session = await acquire();
  const kernel = new Kernel({ baseURL: stack.url, apiKey: stack.api_key, maxRetries: 0 });
  const open = () => kernel.browsers.logs.stream(session, { ...agentLog, follow: true });
  const streams = [];
  for (let count = 0; count < 16; count++) streams.push(await open());
  await expect(open()).rejects.toMatchObject({ status: 429 });
  for (const stream of streams) stream.controller.abort();
  await expect.poll(() => open().then((stream) => stream.controller.abort(), String)).toBeUndefined();
  await release(session);
});
