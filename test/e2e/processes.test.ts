/** Processes that the holder of a session runs beside its browser, by the API. */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Permission } from "../../src/core/model/permission.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let key: string;
beforeAll(async () => {
  stack = await startProject();
  key = await keyWith(["processes:run"]);
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const keyWith = async (permissions: Permission[] | null, project_id = stack.project): Promise<string> =>
  (await stack.kernel.apiKeys.create({ name: `k-${newId()}`, project_id, permissions } as never)).key;

type Answer = { status: number; text: string; body: Record<string, unknown> };

/** `by`: a key, with the project that it is of when that is not the test's. */
type By = string | { key: string; project: string };

const headersOf = (by: By): Record<string, string> =>
  typeof by === "string"
    ? { authorization: `Bearer ${by}` }
    : { authorization: `Bearer ${by.key}`, "x-kernel-project-id": by.project };

const callAs = async (by: By, method: string, path: string, body?: object): Promise<Answer> => {
  const response = await stack.call(method, path, body, headersOf(by));
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith("{") ? JSON.parse(text) : {} };
};

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Every route of processes, with a request. */
const routes = (process = "none"): [method: string, name: string, body?: object][] => [
  ["POST", "exec", { command: "true" }],
  ["POST", "spawn", { command: "true" }],
  ["GET", `${process}/status`],
  ["POST", `${process}/stdin`, { data_b64: "" }],
  ["GET", `${process}/stdout/stream`],
  ["POST", `${process}/resize`, { cols: 80, rows: 24 }],
  ["POST", `${process}/kill`, { signal: "TERM" }],
];

const eachRoute = async (by: By, session: string, process?: string): Promise<number[]> => {
  const statuses: number[] = [];
  for (const [method, name, body] of routes(process))
    statuses.push((await callAs(by, method, `/browsers/${session}/process/${name}`, body)).status);
  return statuses;
};

// PROC-3, PROC-6
test("a process runs from its start to its end, and its events are those of the public clients", async () => {
  const { session_id: id } = await stack.kernel.browsers.create({ headless: true });
  const at = `/browsers/${id}/process`;
  const ran = await callAs(key, "POST", `${at}/exec`, { command: "echo out; echo err >&2; exit 4" });
  expect(ran).toMatchObject({
    status: 200,
    body: { exit_code: 4, stdout_b64: base64("out\n"), stderr_b64: base64("err\n"), duration_ms: expect.any(Number) },
  });
  const command = { command: "cat", args: [], allocate_tty: true, cols: 100, rows: 30, timeout_sec: null, cwd: null };
  const spawned = await callAs(key, "POST", `${at}/spawn`, command);
  expect(spawned).toMatchObject({ status: 200, body: { pid: expect.any(Number), started_at: expect.any(String) } });
  const one = `${at}/${spawned.body.process_id}`;
  expect((await callAs(key, "GET", `${one}/status`)).body).toMatchObject({ state: "running" });
  expect((await callAs(key, "POST", `${one}/stdin`, { data_b64: base64("hello\n") })).body).toEqual({
    written_bytes: 6,
  });
  expect((await callAs(key, "POST", `${one}/resize`, { cols: 50, rows: 20 })).body).toEqual({ ok: true });
  expect((await callAs(key, "POST", `${one}/stdin`, { data_b64: base64("\x04") })).status).toBe(200);
  const events = (await callAs(key, "GET", `${one}/stdout/stream`)).text
    .split("\n\n")
    .filter(Boolean)
    .map((event) => JSON.parse(event.replace(/^data: /, "")));
  const written = events.map(({ data_b64 = "" }) => Buffer.from(data_b64, "base64").toString()).join("");
  expect(written).toBe("hello\r\nhello\r\n");
  expect(events.at(-1)).toEqual({ event: "exit", exit_code: 0 });
  expect(events[0]).toMatchObject({ stream: "stdout" });
  await stack.kernel.browsers.deleteByID(id);
});

// PROC-2, AUTH-2
test("other keys, tokens and strangers run nothing", async () => {
  const session = await stack.kernel.browsers.create({ headless: true });
  const { session_id: id } = session;
  const forbidden = routes().map(() => 403);
  expect(await eachRoute(stack.organization_key, id)).toEqual(forbidden);
  expect(await eachRoute(await keyWith(null), id)).toEqual(forbidden);
  expect(await eachRoute(await keyWith(["browsers:use", "pools:write"]), id)).toEqual(forbidden);
  expect(await eachRoute("sk_wrong", id)).toEqual(routes().map(() => 401));
  const jwt = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "";
  for (const [method, name, body] of routes()) {
    const below = new URL(`${session.base_url}/process/${name}`);
    const ask = (): Promise<Response> =>
      fetch(below, {
        method,
        ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      });
    expect((await ask()).status).toBe(401);
    below.searchParams.set("jwt", jwt);
    const refused = await ask();
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("processes:run");
  }
  await stack.kernel.browsers.deleteByID(id);
});

// PROC-13, PROC-12
test("unknown and ended sessions and processes, and sessions of another project, are 404", async () => {
  const { session_id: id } = await stack.kernel.browsers.create({ headless: true });
  const other = await stack.kernel.projects.create({ name: "other processes" });
  const missing = routes().map(() => 404);
  const elsewhere = { key: await keyWith(["processes:run"], other.id), project: other.id };
  expect(await eachRoute(elsewhere, id)).toEqual(missing);
  expect(await eachRoute(key, "unknown")).toEqual(missing);
  expect((await eachRoute(key, id)).slice(2)).toEqual([404, 404, 404, 404, 404]);
  const running = callAs(key, "POST", `/browsers/${id}/process/exec`, { command: "sleep 98767" });
  const { body } = await callAs(key, "POST", `/browsers/${id}/process/spawn`, { command: "sleep 98767" });
  const path = `/browsers/${id}/process/${body.process_id}/stdout/stream`;
  const stream = await stack.call("GET", path, undefined, headersOf(key));
  expect(stream.status).toBe(200);
  await stack.kernel.browsers.deleteByID(id);
  expect((await running).status).toBe(404);
  expect(await stream.text()).not.toContain("error");
  await eventually("it has ended", async () =>
    (await eachRoute(key, id, String(body.process_id))).every((s) => s === 404),
  );
});

// AUDIT-1, PROC-10
test("no log line has a command, a variable or an output", async () => {
  const { session_id: id } = await stack.kernel.browsers.create({ headless: true });
  const secret = `secret-${newId()}`;
  const env = { TOKEN: `${secret}-env` };
  const asked = { command: `echo ${secret}-command $TOKEN; echo ${secret} >&2`, env };
  expect((await callAs(key, "POST", `/browsers/${id}/process/exec`, asked)).status).toBe(200);
  await stack.kernel.browsers.deleteByID(id);
  const found = execFileSync("sh", ["-c", 'grep -rl "$1" "$2" || true', "sh", secret, stack.dataDir], {
    encoding: "utf8",
  });
  expect(found).toBe("");
});
