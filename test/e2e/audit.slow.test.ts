/** The audit stream of a real service: which calls have a line, what it says, and what it never contains. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { routes } from "../../src/cmd/features.ts";
import type { Route } from "../../src/core/http/route.ts";
import { onlyNamed, type Permission } from "../../src/core/model/permission.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { AuditLine, SuppressedLine } from "../../src/platform/audit/audit-line.ts";
import { eventually } from "../support/eventually.ts";
import { emptyPool } from "../support/filled-pool.ts";
import { type FormSite, startFormSite } from "../support/form-site.ts";
import { type RawAnswer, rawRequest, upgrade } from "../support/raw-http.ts";
import { createRouteRequests, type RouteRequests, textOf } from "../support/route-requests.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let site: FormSite;
let requests: RouteRequests;
/** The bytes that earlier files have left in the stream. */
let earlierBytes = 0;
beforeAll(async () => {
  site = await startFormSite();
  stack = await startProject();
  earlierBytes = (await stat(streamFile())).size;
  requests = await createRouteRequests(stack, site.url);
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
});
afterEach(() => requests.endSessions());

const streamFile = (): string => join(stack.dataDir, "logs/audit.log");
const stream = async (): Promise<string> => (await readFile(streamFile())).subarray(earlierBytes).toString();

const lines = async (): Promise<AuditLine[]> => {
  // What follows the last line break is empty, or a line that is still being written.
  const all = (await stream()).split("\n").slice(0, -1);
  // AUDIT-3: every line is one of the two forms, without any other field.
  return all.flatMap((line) => {
    const parsed = JSON.parse(line);
    if (!("suppressed" in parsed)) return [AuditLine.parse(parsed)];
    SuppressedLine.parse(parsed);
    return [];
  });
};

/** The line of a request. */
const lineOf = (requestId: string): Promise<AuditLine> =>
  eventually(`the line of ${requestId}`, async () =>
    (await lines()).find(({ request_id }) => request_id === requestId),
  );

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Answer = { id: string; status: number; body: any };

const send = async (
  { method, path, body, headers }: { method: string; path: string; body?: unknown; headers?: Record<string, string> },
  key = stack.organization_key,
): Promise<Answer> => {
  const id = newId();
  const response = await stack.call(method.toUpperCase(), path, body, {
    authorization: `Bearer ${key}`,
    "x-request-id": id,
    ...headers,
  });
  const text = await textOf(response);
  const isJson = response.headers.get("content-type")?.includes("json");
  return { id, status: response.status, body: isJson ? JSON.parse(text) : undefined };
};

/**
 * Sends it with a key that nobody has, from an address of its own: so many attempts that failed would have those of
 * other tests and files refused.
 */
const sendUnknown = (
  { method, path, body }: { method: string; path: string; body?: unknown },
  key: string,
): Promise<RawAnswer> =>
  rawRequest(stack.url, {
    method: method.toUpperCase(),
    path,
    localAddress: "127.0.0.2",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const made = async (path: string, body: object) => {
  const answer = await send({ method: "post", path, body });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const keyWith = (permissions: Permission[]): Promise<{ id: string; key: string }> =>
  made("/org/api_keys", { name: `k-${newId()}`, permissions }) as Promise<{ id: string; key: string }>;

const keys = new Map<Permission, Promise<{ id: string; key: string }>>();
/** A key that may not call the route; one for each permission, so that none has too many refusals. */
const keyWithout = (permission: Permission): Promise<{ id: string; key: string }> => {
  const known = keys.get(permission) ?? keyWith([permission === "pools:read" ? "vaults:read" : "pools:read"]);
  keys.set(permission, known);
  return known;
};

const hasLine = ({ method, isAudited, onlyReads }: Route): boolean =>
  isAudited === true || (method !== "get" && onlyReads !== true);

const withPermission = routes.flatMap((route) =>
  route.permission === undefined
    ? []
    : [[`${route.method.toUpperCase()} ${route.path}`, route, route.permission] as const],
);

// AUDIT-1, AUDIT-3
test.each(withPermission)("%s", async (_name, route, permission) => {
  const { method, operationId, scope } = route;
  const request = await requests.of(route);
  const refused = await send({ method, ...request }, (await keyWithout(permission)).key);
  expect(await lineOf(refused.id)).toMatchObject({
    key_id: (await keyWithout(permission)).id,
    verb: operationId,
    object: route.path,
    result: "refused",
    status: 403,
    code: "forbidden",
  });

  const named = onlyNamed.includes(permission) ? (await keyWith([permission])).key : undefined;
  const done = await send({ method, ...request }, named);
  if (typeof done.body?.session_id === "string") requests.own(done.body.session_id);
  // A call that always has a line comes after it, so the one before has its line by now, or has none.
  const after = await send({ method: "post", path: "/vaults", body: { name: "after" } });
  await lineOf(after.id);
  const found = (await lines()).filter(({ request_id }) => request_id === done.id);
  if (!hasLine(route)) return expect(found).toEqual([]);
  const isDone = done.status < 400;
  expect(found).toEqual([
    expect.objectContaining({
      address: expect.stringMatching(/127\.0\.0\.1$|^::1$/),
      key_id: expect.stringMatching(named === undefined ? /^k/ : /./),
      project: scope === "project" ? stack.project : null,
      verb: operationId,
      object: isDone ? request.path.split("?")[0] : route.path,
      result: isDone ? "done" : "failed",
      status: done.status,
    }),
  ]);
  if (isDone && typeof done.body?.id === "string") expect(found[0]?.object_id).toBe(done.body.id);
});

describe("a session's line", () => {
  // AUDIT-1
  test("names the session that was handed out, given back and filled", async () => {
    const route = (id: string): Route => routes.find(({ operationId }) => operationId === id) as Route;
    for (const [id, field] of [
      ["acquireBrowser", "answer"],
      ["createBrowser", "answer"],
      ["releaseBrowser", "session_id"],
      ["runVaultItemOperation", "browser_id"],
    ] as const) {
      const request = await requests.of(route(id));
      const done = await send({ method: "post", ...request });
      if (field === "answer") requests.own(done.body.session_id);
      const session = field === "answer" ? done.body.session_id : (request.body as Record<string, string>)[field];
      const line = await lineOf(done.id);
      expect(line).toMatchObject({ verb: id, session, result: "done" });
      if (id === "runVaultItemOperation") expect(line.outcome).toBe("completed");
    }
  });

  // AUDIT-1
  test("tells an idempotent answer from a new one, and a caller that hung up from one that was served", async () => {
    const { id } = await emptyPool(stack.kernel);
    const acquire = { method: "post", path: `/browser_pools/${id}/acquire`, body: { acquire_timeout_seconds: 0 } };
    const headers = { "idempotency-key": newId() };
    expect(await lineOf((await send({ ...acquire, headers })).id)).toMatchObject({ result: "done", status: 204 });
    expect(await lineOf((await send({ ...acquire, headers })).id)).toMatchObject({ result: "repeated", status: 204 });

    const requestId = newId();
    const waits = fetch(`${stack.url}${acquire.path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${stack.api_key}`, "x-request-id": requestId },
      signal: AbortSignal.timeout(500),
    });
    await expect(waits).rejects.toThrow();
    expect(await lineOf(requestId)).toMatchObject({
      result: "failed",
      status: 499,
      object: "/browser_pools/{id_or_name}/acquire",
    });
  });
});

// AUDIT-1, AUDIT-2
test("a refused fill names item and browser when they were found, and nothing of the body when they were not", async () => {
  const route = routes.find(({ operationId }) => operationId === "runVaultItemOperation") as Route;
  const { path, body } = (await requests.of(route)) as { path: string; body: { browser_id: string } };
  const item = (await send({ method: "get", path: path.replace("/operations", "") })).body;
  const connection = `/auth/connections/${item.spec.connection_id}`;
  await send({ method: "patch", path: connection, body: { allowed_origins: ["https://shop.example"] } });
  const refused = await send({ method: "post", path, body });
  expect(refused.status).toBe(403);
  expect(await lineOf(refused.id)).toMatchObject({
    object: path,
    session: body.browser_id,
    result: "refused",
    code: "origin_not_allowed",
  });
  const unknown = await send({ method: "post", path, body: { ...body, browser_id: "s3cret-in-browser-id" } });
  const line = await lineOf(unknown.id);
  expect(line).toMatchObject({ object: route.path, result: "failed", code: "not_found" });
  expect(line.session).toBeUndefined();
});

describe("a refused call", () => {
  // AUDIT-1
  test("without a known key has a line without one", async () => {
    const { id, status } = await send({ method: "get", path: "/browser_pools" }, "bp_unknown");
    expect(status).toBe(401);
    expect(await lineOf(id)).toMatchObject({
      key_id: null,
      project: null,
      verb: "listBrowserPools",
      code: "unauthorized",
    });
  });

  // AUDIT-1
  test("of another site or Host has a line too", async () => {
    const id = newId();
    await rawRequest(stack.url, { path: "/browser_pools", headers: { host: "evil.example", "x-request-id": id } });
    expect(await lineOf(id)).toMatchObject({ verb: "none", object: "none", result: "refused", status: 403 });
  });

  // AUDIT-1
  test("to a session's socket has a line without the URL's parts", async () => {
    const session = await stack.kernel.browsers.create({ headless: true });
    const url = session.cdp_ws_url ?? "";
    const [wrong, ended] = [newId(), newId()];
    await upgrade(url.replace(/jwt=.*/, "jwt=s3cret-token"), { "x-request-id": wrong });
    expect(await lineOf(wrong)).toMatchObject({
      verb: "connectCdp",
      object: "/gateway/{session}/cdp",
      result: "refused",
      status: 401,
    });
    await stack.kernel.browsers.deleteByID(session.session_id);
    await upgrade(url, { "x-request-id": ended });
    expect(await lineOf(ended)).toMatchObject({ verb: "connectCdp", result: "failed", status: 404 });
  });
});

// AUDIT-1, AUDIT-2
test("the hosted login has a line for what is handed in, with the connection, and for a code that is not good", async () => {
  const body = { domain: "shop.example", profile_name: `p-${newId()}` };
  const { id: connection } = await made("/auth/connections", body);
  const { body: login } = await send({ method: "post", path: `/auth/connections/${connection}/login` });
  const place = new URL(login.hosted_url).pathname;
  const post = async (path: string, fields: Record<string, string>, cookie = "") => {
    const id = newId();
    const headers = { "content-type": "application/x-www-form-urlencoded", "x-request-id": id, cookie };
    const answer = await rawRequest(stack.url, {
      method: "POST",
      path,
      headers,
      body: `${new URLSearchParams(fields)}`,
    });
    return { ...answer, line: await lineOf(id) };
  };
  const wrong = await post(place, { code: "s3cret-code" });
  expect(wrong.line).toMatchObject({ verb: "openLogin", key_id: null, project: null, result: "refused", status: 403 });
  expect(wrong.line.object).toBe("/login/:project/:connection");

  const opened = await post(place, { code: login.handoff_code });
  const object = `/auth/connections/${connection}`;
  expect(opened.line).toMatchObject({ verb: "openLogin", project: stack.project, object, result: "done", status: 303 });
  const cookie = String(opened.headers["set-cookie"]?.[0]?.split(";")[0]);
  const { text: form } = await rawRequest(stack.url, { path: `${place}/form`, headers: { cookie } });
  const csrf = /name="csrf" value="([^"]+)"/.exec(form)?.[1] ?? "";
  const fields = { csrf, "value:username": "s3cret-user", "value:password": "s3cret-password" };
  const stored = await post(`${place}/form`, fields, cookie);
  expect(stored.line).toMatchObject({ verb: "submitLogin", project: stack.project, object, result: "done" });
  const text = await stream();
  for (const secret of ["s3cret", login.handoff_code, csrf, cookie.split("=")[1]]) expect(text).not.toContain(secret);
});

describe("the stream never contains", () => {
  const canary = `canary-${newId()}`;
  /** A body with the canary in every place that a route may read. */
  const bodyOf = (secret: string) => ({
    name: secret,
    domain: `${secret}.example`,
    values: { [secret]: secret, password: secret },
    totp_secret: secret,
    sso_provider: secret,
    description: secret,
    session_id: secret,
    browser_id: secret,
    id: secret,
    project_id: secret,
    profile_name: secret,
    credential: { name: secret },
    allowed_origins: [secret],
    permissions: [secret],
    type: "credential",
    spec: { provider: "managed_auth", connection_id: secret, description: secret },
    fields: [{ field: secret, selector: secret }],
    tags: { [secret]: secret },
    start_url: `https://shop.example/${secret}`,
    size: 1,
    vaults: [{ id: secret }],
  });

  // AUDIT-2, AUTH-10, VAULT-15
  test("a secret that is sent in a path, a query, a header or a body", async () => {
    for (const route of routes) {
      const path = `${route.path.replace(/\{\w+\}/g, canary)}?query=${canary}&wait=0`;
      const more = { headers: { "x-kernel-project-id": canary, "idempotency-key": canary, cookie: canary } };
      const body = route.method === "get" ? undefined : bodyOf(canary);
      const limited = (await keyWithout(route.permission ?? "pools:read")).key;
      for (const key of [stack.organization_key, limited]) await send({ method: route.method, path, body }, key);
      await sendUnknown({ method: route.method, path, body }, canary);
      await send({ method: route.method, path, body, ...more });
    }
    const last = await send({ method: "post", path: "/vaults", body: { name: "after" } });
    await lineOf(last.id);
    const text = (await stream())
      .split("\n")
      // What was carried out names an object that exists: here a pool, a vault or a project that has the canary as its
      // name.
      .filter((line) => !line.includes('"result":"done"'));
    expect(text.filter((line) => line.includes(canary))).toEqual([]);
    expect(text.length).toBeGreaterThan(100);
  });

  // AUDIT-2, VAULT-15
  test("a stored value, a code, a key or a session's token", async () => {
    const secret = `s3cret${newId()}`;
    const values = { username: secret, password: `${secret}!` };
    const stored = await made("/credentials", {
      name: `n-${newId()}`,
      domain: "shop.example",
      values,
      totp_secret: "GEZDGNBVGY3TQOJQ",
    });
    const { body: totp } = await send({ method: "get", path: `/credentials/${stored.id}/totp-code` });
    await send({ method: "patch", path: `/credentials/${stored.id}`, body: { values: { password: secret } } });
    const key = await keyWith(["pools:read"]);
    const session = await stack.kernel.browsers.create({ headless: true });
    const last = await send({ method: "delete", path: `/browsers/${session.session_id}` });
    await lineOf(last.id);
    const text = await stream();
    expect(text).toContain(stored.id);
    const token = new URL(session.cdp_ws_url ?? "").searchParams.get("jwt") ?? "";
    for (const each of [secret, "GEZDGNBVGY3TQOJQ", `"${totp.code}"`, key.key, stack.organization_key, token, "jwt="])
      expect(text).not.toContain(each);
  });
});

// AUDIT-4
test("a flood of calls without a key has few lines, and a line that counts the others", async () => {
  const before = (await stream()).length;
  const flood = async (): Promise<void> => {
    for (let i = 0; i < 200; i++) await sendUnknown({ method: "get", path: "/browser_pools" }, "bp_flood");
  };
  await Promise.all(Array.from({ length: 10 }, flood));
  const after = async () => (await stream()).slice(before);
  const counted = async (): Promise<number> => {
    const found = (await after()).split("\n").filter((line) => line.includes('"suppressed"'));
    return found.reduce((sum, line) => {
      const { key_id, suppressed } = SuppressedLine.parse(JSON.parse(line));
      // Another test's key may have such a line, too.
      return key_id === null ? sum + suppressed : sum;
    }, 0);
  };
  await eventually("lines that count the others", async () => (await counted()) > 1500);
  expect((await after()).split("\n").length).toBeLessThan(400);
  const metrics = await (await fetch(`${stack.url}/metrics`)).text();
  expect(metrics).toMatch(/browserpool_audit_lines_missing_total\{reason="suppressed"\} \d{4}/);
});
