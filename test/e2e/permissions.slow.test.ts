/** The permissions of API keys, route by route, with real browsers. The routes' own declarations say what is tried. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { kinds, routes } from "../../src/cmd/features.ts";
import type { Route } from "../../src/core/http/route.ts";
import { onlyNamed, type Permission, permissions } from "../../src/core/model/permission.ts";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { agentKeyType } from "../../src/core/pools/apply/agent-key-secrets.ts";
import { destinationRoutes } from "../../src/features/audit-logs/export-destinations.ts";
import { secrets } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type FormSite, startFormSite } from "../support/form-site.ts";
import { createRouteRequests, type RouteRequest, type RouteRequests, textOf } from "../support/route-requests.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let site: FormSite;
let requests: RouteRequests;
beforeAll(async () => {
  site = await startFormSite();
  stack = await startStack();
  requests = await createRouteRequests(stack, site.url);
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
});
afterEach(() => requests.endSessions());

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Answer = { status: number; text: string; body: any };

const callAs = async (
  key: string,
  { method, path, body, headers }: { method: string; path: string; body?: unknown; headers?: Record<string, string> },
): Promise<Answer> => {
  const response = await stack.call(method.toUpperCase(), path, body, { authorization: `Bearer ${key}`, ...headers });
  const text = await textOf(response);
  const isJson = response.headers.get("content-type")?.includes("json");
  return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
};

const keyWith = async (list: readonly Permission[], projectId?: string): Promise<{ id: string; key: string }> => {
  const body = { name: `k-${newId()}`, permissions: list, ...(projectId && { project_id: projectId }) };
  const {
    status,
    text,
    body: made,
  } = await callAs(stack.organization_key, { method: "post", path: "/org/api_keys", body });
  expect(status, text).toBe(201);
  return made;
};

const known = new Map<string, Promise<string>>();
/** The key with this list of permissions, the same for each test. */
const keyOf = (list: readonly Permission[]): Promise<string> => {
  const made = known.get(list.join()) ?? keyWith(list).then(({ key }) => key);
  known.set(list.join(), made);
  return made;
};
const allBut = (left: Permission): Promise<string> => keyOf(permissions.filter((each) => each !== left));

/** What a request can change: all specs and names, projects, keys, logins, limits and sessions, but no status. */
const state = async (): Promise<Set<string>> => {
  const { kube } = stack;
  const objects = await Promise.all(kinds.map((kind) => kube.list(kind)));
  const listed = await Promise.all(
    [
      "/browsers?status=all&limit=100",
      "/org/projects?limit=100",
      "/org/api_keys?status=all&limit=100",
      "/org/limits",
    ].map(async (path) => (await callAs(stack.organization_key, { method: "get", path })).body),
  );
  // The operator makes and deletes agents' keys with their pods, whenever it does.
  const { items } = await kube.list(secrets, { fieldSelector: `type!=${agentKeyType}` });
  // What an earlier test has deleted goes when the operator is done with it.
  const stays = ({ metadata }: { metadata: { deletionTimestamp?: string } }): boolean =>
    metadata.deletionTimestamp === undefined;
  const facts = [
    ...objects.flatMap((list) =>
      list.items.filter(stays).map(({ metadata, spec }) => [metadata.uid, metadata.annotations, spec]),
    ),
    ...listed.flat(),
    ...items.filter(stays).map(({ metadata, data }) => [metadata.uid, metadata.annotations, data]),
  ];
  // The uptime of a session grows by itself.
  return new Set(facts.map((fact) => JSON.stringify(fact, (key, value) => (key === "uptime_ms" ? 0 : value))));
};

/** Sends a request that must be refused for want of this permission, and looks whether it did anything. */
const expectRefusal = async (
  { method }: Route,
  { request, permission }: { request: RouteRequest; permission: Permission },
): Promise<void> => {
  const key = await allBut(permission);
  const before = await state();
  const refused = await callAs(key, { method, ...request });
  expect(refused).toMatchObject({ status: 403, body: { code: "forbidden" } });
  expect(refused.body.message).toContain(`lacks the permission ${permission}`);
  expect([...(await state()).symmetricDifference(before)]).toEqual([]);
};

/** Routes whose answer to a right request is an error. */
const answersWithError: Record<string, number> = {
  downloadExtensionFromChromeStore: 400,
  ...Object.fromEntries(destinationRoutes.map(({ operationId }) => [operationId, 400])),
  updateVaultItem: 409,
  // This stack has no browsers for analyses.
  resolveConfigRegistry: 400,
  // Nothing is saved in it yet.
  downloadProfile: 404,
  // No login has begun.
  submitAuthConnection: 409,
  followAuthConnection: 409,
};

const successOf = ({ operationId, answers }: Route): number =>
  answersWithError[operationId] ?? Number(Object.keys(answers)[0]);

const nameOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path}`;

// AUTH-11, AUTH-2
for (const route of routes) {
  const { permission } = route;
  // Any key may.
  if (permission === undefined) continue;
  const success = successOf(route);
  test(`${nameOf(route)}: 403 and nothing done without ${permission}, ${success} with it alone`, async () => {
    const request = await requests.of(route);
    await expectRefusal(route, { request, permission });
    const done = await callAs(await keyOf([permission]), { method: route.method, ...request });
    expect(done.status, done.text).toBe(success);
    if (typeof done.body?.session_id === "string") requests.own(done.body.session_id);
  });
}

describe("a request that needs more than its route", () => {
  const profile = async (): Promise<object> => {
    const made = await callAs(stack.organization_key, { method: "post", path: "/profiles", body: {} });
    return { profile: { id: made.body.id } };
  };

  /** The parts of bodies for which routes need a further permission. */
  const parts: Partial<Record<Permission, () => Promise<object>>> = {
    "profiles:use": profile,
    "profiles:write": async () => {
      const made = await callAs(stack.organization_key, { method: "post", path: "/profiles", body: {} });
      return { profile: { id: made.body.id, save_changes: true } };
    },
    "vaults:fill": async () => {
      const vault = await callAs(stack.organization_key, {
        method: "post",
        path: "/vaults",
        body: { name: `n-${newId()}` },
      });
      return { vaults: [{ id: vault.body.id }] };
    },
  };
  /** What such a part needs besides. */
  const besides: Partial<Record<Permission, Permission[]>> = { "profiles:write": ["profiles:use"] };
  const further = routes.flatMap((route) =>
    (route.furtherPermissions ?? []).map(({ permission, when }) => ({ route, name: nameOf(route), permission, when })),
  );

  // AUTH-11, PROFILE-22
  test.each(further)("$name needs $permission too when $when", async ({ route, permission }) => {
    const request = await requests.of(route, await parts[permission]?.());
    await expectRefusal(route, { request, permission });
    const own: Permission[] = route.permission ? [route.permission] : [];
    const enough = [...own, permission, ...(besides[permission] ?? [])];
    const done = await callAs(await keyOf(enough), { method: route.method, ...request });
    expect(done.status, done.text).toBe(successOf(route));
    await callAs(stack.organization_key, { method: "delete", path: `/browsers/${done.body.session_id}` });
  });
});

describe("a session's URLs", () => {
  const urls = ["cdp_ws_url", "webdriver_ws_url", "base_url"];
  const acquired = async (): Promise<{ pool: string; session: string }> => {
    const { id: pool } = await filledPool(stack.kernel);
    const { session_id } = await stack.kernel.browserPools.acquire(pool, {});
    return { pool, session: session_id };
  };

  // AUTH-13
  test("are shown only to keys that may use browsers", async () => {
    const { session } = await acquired();
    for (const path of [
      "/browsers",
      `/browsers/${session}`,
      "/browsers?status=all",
      `/browsers/${session}?include_deleted=true`,
    ]) {
      const watched = await callAs(await keyOf(["pools:read"]), { method: "get", path });
      expect(watched.text).toContain(session);
      expect(watched.text).not.toContain("jwt=");
      for (const url of urls) expect(watched.text).not.toContain(url);
      const used = await callAs(await keyOf(["pools:read", "browsers:use"]), { method: "get", path });
      const [answer] = [used.body].flat().filter(({ session_id }) => session_id === session);
      for (const url of urls) expect(answer[url]).toMatch(/^(ws|http):/);
    }
  });

  // AUTH-13, HTTP-21
  test("are not in an idempotent answer for a key that has lost the permission", async () => {
    const { id: pool } = await filledPool(stack.kernel);
    const { id, key } = await keyWith(["browsers:use"]);
    const acquire = {
      method: "post",
      path: `/browser_pools/${pool}/acquire`,
      body: {},
      headers: { "idempotency-key": newId() },
    };
    const first = await callAs(key, acquire);
    expect(first.body.cdp_ws_url).toContain("jwt=");
    expect((await callAs(key, acquire)).text).toBe(first.text);
    const lessens = { method: "patch", path: `/org/api_keys/${id}`, body: { permissions: ["pools:read"] } };
    expect((await callAs(stack.organization_key, lessens)).status).toBe(200);
    const refused = await callAs(key, acquire);
    expect(refused.status).toBe(403);
    expect(refused.text).not.toContain("jwt=");
  });
});

// AUTH-15
test.each(["is deleted", "loses the permission"])(
  "a caller gets no browser when its key %s while it waits",
  async (what) => {
    const { id: pool } = await filledPool(stack.kernel);
    const held = await stack.kernel.browserPools.acquire(pool, {});
    const { id, key } = await keyWith(["browsers:use"]);
    const acquire = { method: "post", path: `/browser_pools/${pool}/acquire`, body: { acquire_timeout_seconds: 30 } };
    const waiting = [callAs(key, acquire), callAs(key, { ...acquire, headers: { "idempotency-key": newId() } })];
    await eventually("both wait", async () => {
      const found = (await stack.kube.list(browserPoolKind)).items.find(({ metadata }) => metadata.name === pool);
      return found?.status?.waiting === 2;
    });
    const path = `/org/api_keys/${id}`;
    const change =
      what === "is deleted"
        ? { method: "delete", path }
        : { method: "patch", path, body: { permissions: ["pools:read"] } };
    expect((await callAs(stack.organization_key, change)).status).toBeLessThan(300);
    await stack.kernel.browserPools.release(pool, { session_id: held.session_id });
    for (const answer of await Promise.all(waiting)) {
      expect(answer.status).toBe(what === "is deleted" ? 401 : 403);
      expect(answer.text).not.toContain("jwt=");
    }
    const next = await stack.kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 30 });
    expect(next.session_id).toBeDefined();
  },
);

// AUTH-11, AUTH-3, PROC-2
test("a key of a project has all but `organization` and what keys have by name, and only there", async () => {
  const { body: project } = await callAs(stack.organization_key, {
    method: "post",
    path: "/org/projects",
    body: { name: `n-${newId()}` },
  });
  const made = await callAs(stack.organization_key, {
    method: "post",
    path: "/org/api_keys",
    body: { name: "project", project_id: project.id },
  });
  expect(made.body.permissions).toEqual(
    permissions.filter((each) => each !== "organization" && !onlyNamed.includes(each)),
  );
  const headers = { "x-kernel-project-id": project.id };
  const asProject = (method: string, path: string, body?: unknown) =>
    callAs(made.body.key, { method, path, body, headers });
  expect((await asProject("post", "/browser_pools", { size: 1, fill_rate_per_minute: 0 })).status).toBe(200);
  expect((await asProject("get", `/org/projects/${project.id}`)).status).toBe(200);
  const refused = await asProject("get", "/org/api_keys");
  expect(refused.status).toBe(403);
  expect(refused.body.message).toContain("organization");
});
