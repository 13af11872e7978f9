/** Projects, limits and API keys over HTTP, with the public SDK where it has the call. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onlyNamed, permissions } from "../../../src/core/model/permission.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { vaultKind } from "../../../src/features/vaults/vault.ts";
import { namespaces } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { type OrgApi, startOrgApi } from "./org-api.ts";

let api: OrgApi;
beforeAll(async () => {
  api = await startOrgApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const newName = (): string => `Project ${newId()}`;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

const collect = async <T>(pages: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of pages) items.push(item);
  return items;
};

describe("projects", () => {
  // PROJECT-1, HTTP-17
  test("are created, read by id and name, changed and deleted", async () => {
    const { projects } = api.client();
    const name = newName();
    const created = await projects.create({ name });
    const id = created.id;
    expect(created).toEqual({ id, name, status: "active", created_at: time, updated_at: time });
    expect(await projects.retrieve(id)).toEqual(created);
    expect(await projects.retrieve(name)).toEqual(created);
    expect(await projects.update(id, { status: "archived" })).toMatchObject({ id, status: "archived" });
    await projects.delete(id);
    await expect(projects.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  // PROJECT-1, HTTP-9
  test("are listed page by page, and filtered by name and part of the name", async () => {
    const { projects } = api.client();
    const tag = newId();
    for (const part of ["a", "b", "c"]) await projects.create({ name: `${tag} ${part}` });
    const all = await collect(projects.list({ query: tag.toUpperCase(), limit: 2 }));
    expect(all.map(({ name }) => name).sort()).toEqual([`${tag} a`, `${tag} b`, `${tag} c`]);
    expect((await collect(projects.list({ name: `${tag} b` }))).map(({ name }) => name)).toEqual([`${tag} b`]);
  });

  // PROJECT-3, AUTH-7
  test("take no requests while they are archived, and can be restored", async () => {
    const { projects } = api.client();
    const { id } = await projects.create({ name: newName() });
    await projects.update(id, { status: "archived" });
    const inside = api.client(undefined, id);
    await expect(inside.browserPools.list()).rejects.toMatchObject({ status: 404 });
    await projects.update(id, { status: "active" });
    expect(await collect(inside.browserPools.list())).toEqual([]);
  });

  // AUTH-4, AUTH-6, AUTH-7, AUTH-17
  test("are named by either header of the clients, by id or by name", async () => {
    const [here, there] = [newName(), newName()];
    const { projects, apiKeys } = api.client();
    const { id } = await projects.create({ name: here });
    const { id: otherId } = await projects.create({ name: there });
    const { key } = await apiKeys.create({ name: "one project's", project_id: id });
    const idHeader = "X-Kernel-Project-Id";
    const nameHeader = "X-Kernel-Project";
    const poolsMade = async (headers: Record<string, string>, apiKey?: string): Promise<string[]> => {
      const { status, body } = await api.call("POST", "/browser_pools", {
        body: { size: 1, fill_rate_per_minute: 0 },
        headers,
        ...(apiKey !== undefined && { key: apiKey }),
      });
      if (status !== 200 && status !== 201) return [`${status} ${body.code}`];
      const places = await Promise.all(
        [id, otherId, api.defaultProject].map(async (project) => {
          const pools = await collect(api.client(undefined, project).browserPools.list());
          return pools.some((pool) => pool.id === body.id) ? project : [];
        }),
      );
      await Promise.all(
        [id, otherId].map((each) =>
          api
            .client(undefined, each)
            .browserPools.delete(`${body.id}`)
            .catch(() => undefined),
        ),
      );
      return places.flat();
    };
    for (const header of [idHeader, nameHeader])
      for (const named of [id, here]) expect(await poolsMade({ [header]: named })).toEqual([id]);
    expect(await poolsMade({ [idHeader]: id, [nameHeader]: here })).toEqual([id]);
    expect(await poolsMade({ [idHeader]: "", [nameHeader]: here })).toEqual([id]);
    expect(await poolsMade({ [idHeader]: id, [nameHeader]: there })).toEqual(["400 bad_request"]);
    expect(await poolsMade({ [idHeader]: id, [nameHeader]: "nothing" })).toEqual(["400 bad_request"]);
    expect(await poolsMade({ [nameHeader]: "nothing" })).toEqual(["404 project_not_found"]);
    expect(await poolsMade({ [nameHeader]: here }, key)).toEqual([id]);
    expect(await poolsMade({ [nameHeader]: there }, key)).toEqual(["403 forbidden"]);
    expect(await poolsMade({ [idHeader]: id, [nameHeader]: otherId }, key)).toEqual(["403 forbidden"]);
  });

  // PROJECT-2
  test.each([{}, { name: "" }, { name: 7 }, { name: "x".repeat(256) }, { name: "a\nb" }])(
    "can't be created with %j",
    async (body) => {
      const answer = await api.call("POST", "/org/projects", { body });
      expect(answer).toMatchObject({
        status: 400,
        body: { code: "bad_request", inner_error: { code: "invalid_input" } },
      });
      expect(answer.body.message).toContain("name");
    },
  );

  // PROJECT-2
  test("may have a name of 255 characters of any script", async () => {
    const name = "😀".repeat(243) + newId().slice(0, 12);
    expect((await api.client().projects.create({ name })).name).toBe(name);
  });

  // PROJECT-2, PROJECT-5
  test("answer 409 for a taken name, and for the deletion of the default project", async () => {
    const name = newName();
    await api.client().projects.create({ name });
    const taken = await api.call("POST", "/org/projects", { body: { name } });
    expect(taken).toMatchObject({ status: 409, body: { code: "name_taken" } });
    const ended = await api.call("DELETE", `/org/projects/${api.defaultProject}`);
    expect(ended).toMatchObject({ status: 409, body: { code: "conflict" } });
  });
});

// HTTP-21
test("an Idempotency-Key is one project's: the same key, sent to another project, is another request", async () => {
  const { projects } = api.client();
  const headers = { "Idempotency-Key": newId() };
  const made = [];
  for (const name of [newName(), newName()]) {
    const { browserPools } = api.client(undefined, (await projects.create({ name })).id);
    const body = { size: 1, headless: true, fill_rate_per_minute: 0 };
    const create = () => browserPools.create(body, { headers, maxRetries: 5 });
    const [first, again] = [await create(), await create()];
    expect(again.id).toBe(first.id);
    made.push(first.id);
    await browserPools.delete(first.id, { force: true });
  }
  expect(new Set(made).size).toBe(2);
});

describe("limits", () => {
  // PROJECT-7
  test("of a project can be set and removed", async () => {
    const { projects } = api.client();
    const { id } = await projects.create({ name: newName() });
    const none = { max_concurrent_sessions: null, max_concurrent_invocations: null, max_pooled_sessions: null };
    expect(await projects.limits.retrieve(id)).toEqual(none);
    const some = await projects.limits.update(id, { max_concurrent_sessions: 5, max_concurrent_invocations: 2 });
    expect(some).toEqual({ ...none, max_concurrent_sessions: 5, max_concurrent_invocations: 2 });
    expect(await projects.limits.retrieve(id)).toEqual(some);
    const zero = { max_concurrent_sessions: 0, max_concurrent_invocations: 0, max_pooled_sessions: null };
    expect(await projects.limits.update(id, zero)).toEqual(none);
  });

  test.each([{ max_pooled_sessions: 5 }, { max_concurrent_sessions: -1 }, { max_concurrent_sessions: 1.5 }])(
    "of a project can't be %j",
    async (body) => {
      const answer = await api.call("PATCH", `/org/projects/${api.defaultProject}/limits`, { body });
      expect(answer).toMatchObject({ status: 400, body: { code: "bad_request" } });
      expect(answer.body.message).toContain(Object.keys(body)[0]);
    },
  );

  // ORG-8
  test("of the organization include a default for projects", async () => {
    const { limits } = api.client().organization;
    const { max_concurrent_sessions: total = 0 } = await limits.retrieve();
    const updated = await limits.update({ default_project_max_concurrent_sessions: total });
    expect(updated).toMatchObject({ max_concurrent_sessions: total, default_project_max_concurrent_sessions: total });
    const above = limits.update({ default_project_max_concurrent_sessions: total + 1 });
    await expect(above).rejects.toMatchObject({ status: 400 });
    const removed = await limits.update({ default_project_max_concurrent_sessions: 0 });
    expect(removed.default_project_max_concurrent_sessions).toBeNull();
  });

  // LIMIT-13, LIMIT-14, LIMIT-15, LIMIT-20
  test("of the organization tell what its callers may use", async () => {
    const { body } = await api.call("GET", "/org/limits");
    expect(body).toEqual({
      max_concurrent_sessions: 100,
      max_pooled_sessions: 50,
      max_on_demand_sessions: 50,
      default_project_max_on_demand_sessions: 25,
      default_project_max_concurrent_sessions: null,
      requests_per_second: { per_key: 250, per_project: 500 },
      open_requests: { per_key: 1000, per_project: 2000 },
      waiting_acquires: { per_key: 500, per_project: 1000 },
      kept_answer_bytes: { per_key: 32e6, per_project: 64e6 },
      connections_per_project: 2500,
      auth_connections_used: expect.any(Number),
      max_auth_connections: null,
      vaults_used: expect.any(Number),
      max_vaults: null,
      min_health_check_interval_seconds: 300,
    });
    for (const name of ["one", "two"])
      expect((await api.call("POST", "/vaults", { body: { name } })).status).toBeLessThan(300);
    // Other tests on this API server make and delete vaults meanwhile.
    await eventually("the answer is their number", async () => {
      const before = await api.kube.count(vaultKind);
      const { body: answer } = await api.call("GET", "/org/limits");
      return before >= 2 && before === (await api.kube.count(vaultKind)) && answer.vaults_used === before;
    });
  });
});

// ORG-11
test("what the installation can do is told in the words for plans", async () => {
  const { status, body } = await api.call("GET", "/org/entitlements");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    features: {
      browser_pools: { enabled: true },
      browser_extensions: { max_stored_per_org: null },
      browser_replays: { retention_days: 1 },
      gpu: { enabled: api.services.config.browserFeatures.includes("gpu") },
      managed_proxies: { enabled: false },
      search: { enabled: false },
    },
    limits: { max_concurrent_browsers: 100, max_concurrent_invocations: 0, max_vaults: null },
    plan: { id: "ENTERPRISE", effective_id: "ENTERPRISE", is_trialing: false, status: null, trial_ends_at: null },
  });
});

// AUTH-23
describe("the context of a key", () => {
  const contextOf = (key: string, headers = {}) => api.call("GET", "/auth/context", { key, headers });
  const scopes = (own: string | null, effective: string) => ({
    credential_scope: { project_id: own },
    effective_scope: { project_id: effective },
  });

  test("of the organization says where its requests work", async () => {
    const { body: key } = await api.call("POST", "/org/api_keys", { body: { name: "context" } });
    const namespace = await api.kube.get(namespaces, { name: api.systemNamespace });
    const found = await contextOf(String(key.key));
    expect(found.body).toEqual({
      authentication: { credential_id: key.id, method: "api_key", source: "api_key" },
      authorization: scopes(null, api.defaultProject),
      organization: { id: namespace?.metadata.uid },
      principal: { id: key.id, type: "api_key" },
    });
    const { id } = await api.client().projects.create({ name: newName() });
    const inProject = await contextOf(String(key.key), { "x-kernel-project": id });
    expect(inProject.body.authorization).toEqual(scopes(null, id));
  });

  test("of a project, whatever the key may do", async () => {
    const { id } = await api.client().projects.create({ name: newName() });
    const { body: key } = await api.call("POST", "/org/api_keys", {
      body: { name: "context", project_id: id, permissions: ["registry:read"] },
    });
    expect((await contextOf(String(key.key))).body.authorization).toEqual(scopes(id, id));
    const foreign = await contextOf(String(key.key), { "x-kernel-project-id": api.defaultProject });
    expect(foreign).toMatchObject({ status: 403, body: { code: "forbidden" } });
  });

  test("is for nobody without a key", async () => {
    expect(await contextOf("none")).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  });
});

describe("API keys", () => {
  // ORG-1, ORG-2
  test("are created, shown once, masked afterwards, renamed and deleted", async () => {
    const { apiKeys } = api.client();
    const { key, ...created } = await apiKeys.create({ name: "ci", days_to_expire: 30 });
    expect(created).toEqual({
      id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/),
      name: "ci",
      masked_key: `${key.slice(0, 7)}…${key.slice(-4)}`,
      project_id: null,
      project_name: null,
      created_at: time,
      created_by: { id: expect.any(String), email: "", name: "test" },
      permissions: permissions.filter((each) => !onlyNamed.includes(each)),
      expires_at: time,
      deleted_at: null,
    });
    expect(await apiKeys.retrieve(created.id)).toEqual(created);
    expect(await apiKeys.update(created.id, { name: "deploy" })).toEqual({ ...created, name: "deploy" });
    expect((await api.call("GET", "/org/limits", { key })).status).toBe(200);
    await apiKeys.delete(created.id);
    expect((await api.call("GET", "/org/limits", { key })).status).toBe(401);
    await expect(apiKeys.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
    expect((await apiKeys.retrieve(created.id, { include_deleted: true })).deleted_at).toEqual(time);
  });

  // ORG-10
  test("are found by a name that one key alone has", async () => {
    const { id } = await api.client().apiKeys.create({ name: "named once" });
    const path = `/org/api_keys/${encodeURIComponent("named once")}`;
    expect(await api.call("GET", path)).toMatchObject({ status: 200, body: { id } });
    const twin = await api.client().apiKeys.create({ name: "named once" });
    for (const [method, body] of [["GET"], ["PATCH", { name: "x" }], ["DELETE"]] as const)
      expect(await api.call(method, path, { body })).toMatchObject({
        status: 400,
        body: { code: "ambiguous_api_key_name", message: expect.stringContaining(twin.id) },
      });
    expect((await api.call("DELETE", `/org/api_keys/${twin.id}`)).status).toBe(204);
    expect((await api.call("DELETE", path)).status).toBe(204);
    expect((await api.call("GET", path)).status).toBe(404);
    expect((await api.call("DELETE", "/org/api_keys/test")).status).toBe(409);
  });

  // ORG-6
  test("are listed by status, order and page, never with a key or a hash", async () => {
    const { apiKeys } = api.client();
    const tag = newId();
    const made = [];
    for (const part of ["a", "b", "c"]) made.push(await apiKeys.create({ name: `${tag} ${part}` }));
    await apiKeys.delete(made[0]?.id ?? "");
    const names = async (query: Parameters<typeof apiKeys.list>[0]) =>
      (await collect(apiKeys.list({ query: tag, ...query }))).map(({ name }) => name.slice(-1)).join("");
    expect(await names({ limit: 1, sort_by: "name", sort_direction: "asc" })).toBe("bc");
    expect(await names({ limit: 1 })).toBe("cb");
    expect(await names({ status: "deleted" })).toBe("a");
    expect(await names({ include_deleted: true, sort_by: "name", sort_direction: "asc" })).toBe("abc");
    const listed = JSON.stringify((await api.call("GET", "/org/api_keys?limit=100&status=all")).body);
    for (const { key } of made) expect(listed).not.toContain(key.slice(8, -4));
    expect(listed).not.toMatch(/sha256|[0-9a-f]{64}/);
  });

  // ORG-1, ORG-4
  test("are rotated", async () => {
    const { apiKeys } = api.client();
    const old = await apiKeys.create({ name: "old" });
    const fresh = await apiKeys.rotate(old.id, { expire_in_days: 0 });
    expect(fresh).toMatchObject({ name: "old", expires_at: null });
    expect((await api.call("GET", "/org/limits", { key: old.key })).status).toBe(401);
    expect((await api.call("GET", "/org/limits", { key: fresh.key })).status).toBe(200);
    const again = await apiKeys.rotate(fresh.id);
    expect((await api.call("GET", "/org/limits", { key: fresh.key })).status).toBe(200);
    expect(again.id).not.toBe(fresh.id);
  });

  test.each([
    { name: "" },
    { name: "ci", days_to_expire: 0 },
    { name: "ci", days_to_expire: 3651 },
    { name: "ci", project_id: "" },
  ])("can't be created with %j", async (body) => {
    expect((await api.call("POST", "/org/api_keys", { body })).status).toBe(400);
  });

  test("need an existing project", async () => {
    const answer = await api.call("POST", "/org/api_keys", { body: { name: "ci", project_id: "nowhere" } });
    expect(answer).toMatchObject({ status: 404, body: { code: "project_not_found" } });
  });

  // ORG-5
  test("can't delete themselves", async () => {
    const { id, key } = await api.client().apiKeys.create({ name: "self" });
    const answer = await api.call("DELETE", `/org/api_keys/${id}`, { key });
    expect(answer).toMatchObject({ status: 409, body: { code: "conflict" } });
  });

  test("are not found by an id that points to another Secret", async () => {
    for (const id of ["..%2Fsigning-key", "%2e%2e", "signing-key", "x".repeat(255)])
      expect((await api.call("DELETE", `/org/api_keys/${id}`)).status, id).toBe(404);
  });
});

describe("a key of one project", () => {
  const projectKey = async (): Promise<{ id: string; name: string; key: string }> => {
    const { projects, apiKeys } = api.client();
    const { id, name } = await projects.create({ name: newName() });
    const { key, project_name } = await apiKeys.create({ name: "project key", project_id: id });
    expect(project_name).toBe(name);
    return { id, name, key };
  };

  // PROJECT-6
  test("reads its own project, by id and name, and no other", async () => {
    const { id, name, key } = await projectKey();
    const client = api.client(key);
    expect((await client.projects.retrieve(id)).name).toBe(name);
    expect((await client.projects.retrieve(name)).id).toBe(id);
    for (const other of [api.defaultProject, "nowhere"])
      await expect(client.projects.retrieve(other)).rejects.toMatchObject({ status: 403 });
  });

  // AUTH-2, ORG-9
  test.each([
    ["GET", "/org/projects"],
    ["POST", "/org/projects"],
    ["PATCH", "/org/projects/OWN"],
    ["DELETE", "/org/projects/OWN"],
    ["GET", "/org/projects/OWN/limits"],
    ["PATCH", "/org/projects/OWN/limits"],
    ["GET", "/org/limits"],
    ["PATCH", "/org/limits"],
    ["GET", "/org/api_keys"],
    ["POST", "/org/api_keys"],
    ["GET", "/org/api_keys/any"],
    ["PATCH", "/org/api_keys/any"],
    ["DELETE", "/org/api_keys/any"],
    ["POST", "/org/api_keys/any/rotate"],
  ])("may not %s %s", async (method, path) => {
    const { id, key } = await projectKey();
    const answer = await api.call(method, path.replace("OWN", id), {
      key,
      ...(method === "POST" && { body: { name: "more" } }),
    });
    expect(answer).toMatchObject({ status: 403, body: { code: "forbidden" } });
  });
});
