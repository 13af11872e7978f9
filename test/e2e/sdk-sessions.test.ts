/** Sessions, API keys, projects and limits with the public SDK. */
import Kernel from "@onkernel/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { collect, emptyPool, fastest, filledPool, untilAvailable } from "../support/filled-pool.ts";
import { cookieOf, setCookie, tabUrls, withCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let kernel: Kernel;
beforeAll(async () => {
  stack = await startStack();
  kernel = stack.kernel;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const newName = (): string => `n-${newId()}`;
const notFound = { status: 404, error: { code: "not_found" } };

/** A client whose key is bound to one project. */
const clientWith = (apiKey: string): Kernel => new Kernel({ baseURL: stack.url, apiKey });

/** Acquires a browser; an empty answer (204) would be an error of the test. */
const acquire = async (pool: string, body: object = {}, client = kernel) => {
  const session = await client.browserPools.acquire(pool, body);
  if (!session) throw new Error(`no browser of ${pool}`);
  return session;
};

// HTTP-27
describe("sessions with the SDK", () => {
  let poolId: string;
  beforeAll(async () => {
    poolId = (await filledPool(kernel, { size: 2 })).id;
  });
  afterAll(() => kernel.browserPools.delete(poolId, { force: true }));

  // LEASE-21, LEASE-22
  test("are read by id and by name, and after their end only with include_deleted", async () => {
    const name = newName();
    const { session_id } = await acquire(poolId, { name });
    expect(await kernel.browsers.retrieve(session_id)).toMatchObject({ session_id, name });
    expect(await kernel.browsers.retrieve(name)).toMatchObject({ session_id, name });
    await kernel.browserPools.release(poolId, { session_id });
    await expect(kernel.browsers.retrieve(session_id)).rejects.toMatchObject(notFound);
    await expect(kernel.browsers.retrieve(name)).rejects.toMatchObject(notFound);
    const ended = await kernel.browsers.retrieve(session_id, { include_deleted: true });
    expect(ended).toMatchObject({ session_id, name, deleted_at: expect.stringMatching(/Z$/) });
  });

  // LEASE-6
  test("have names that are unique among active sessions and free again after the release", async () => {
    const name = newName();
    const first = await acquire(poolId, { name });
    const taken = { status: 409, error: { code: "name_taken" } };
    await expect(kernel.browserPools.acquire(poolId, { name })).rejects.toMatchObject(taken);
    expect(await kernel.browserPools.retrieve(poolId)).toMatchObject({ acquired_count: 1 });
    await kernel.browserPools.release(poolId, { session_id: first.session_id });
    const second = await acquire(poolId, { name });
    expect(second.name).toBe(name);
    await kernel.browsers.deleteByID(name);
    const third = await acquire(poolId, { name });
    await kernel.browserPools.release(poolId, { session_id: third.session_id });
  });

  // LEASE-7, LEASE-23
  test("are listed by tags, by name and by status", async () => {
    const team = newName();
    const [a, b] = [
      await acquire(poolId, { tags: { team, env: "x" }, name: `${team}-a` }),
      await acquire(poolId, { tags: { team, env: "y" } }),
    ];
    const ids = async (query: object): Promise<string[]> =>
      (await collect(kernel.browsers.list({ limit: 1, ...query }))).map(({ session_id }) => session_id).sort();
    const both = [a.session_id, b.session_id].sort();
    expect(await ids({ tags: { team } })).toEqual(both);
    expect(await ids({ tags: { team, env: "y" } })).toEqual([b.session_id]);
    expect(await ids({ tags: { team: "another" } })).toEqual([]);
    expect(await ids({ query: `${team.toUpperCase()}-A` })).toEqual([a.session_id]);
    await kernel.browserPools.release(poolId, { session_id: a.session_id });
    expect(await ids({ tags: { team }, status: "active" })).toEqual([b.session_id]);
    expect(await ids({ tags: { team }, status: "deleted" })).toEqual([a.session_id]);
    expect(await ids({ tags: { team }, status: "all" })).toEqual(both);
    expect(await ids({ tags: { team }, include_deleted: true })).toEqual(both);
    await kernel.browserPools.release(poolId, { session_id: b.session_id });
  });

  // LEASE-25
  test("end by deleteByID, and a new browser replaces theirs", async () => {
    await untilAvailable(kernel, poolId, 2);
    const session = await acquire(poolId);
    await withCdp(session.cdp_ws_url, (cdp) => setCookie(cdp, "mine", "yes"));
    await kernel.browsers.deleteByID(session.session_id);
    await expect(kernel.browsers.deleteByID(session.session_id)).rejects.toMatchObject(notFound);
    await untilAvailable(kernel, poolId, 2);
    const all = [await acquire(poolId), await acquire(poolId)];
    for (const { cdp_ws_url, session_id } of all) {
      expect(await withCdp(cdp_ws_url, (cdp) => cookieOf(cdp, "mine"))).toBeUndefined();
      await kernel.browserPools.release(poolId, { session_id });
    }
  });

  // LEASE-9, LEASE-27
  test("merge their own telemetry into the pool's", async () => {
    const { id } = await filledPool(kernel, { telemetry: { enabled: true } });
    const session = await acquire(id, { telemetry: { browser: { console: { enabled: true } } } });
    expect(session.telemetry?.browser).toMatchObject({ console: { enabled: true }, control: { enabled: true } });
    await kernel.browserPools.release(id, { session_id: session.session_id });
    const next = await acquire(id);
    expect(next.telemetry?.browser).toMatchObject({ console: { enabled: false }, control: { enabled: true } });
    await kernel.browserPools.delete(id, { force: true });
  });
});

describe("the organization with the SDK", () => {
  test("makes, lists, renames, rotates and deletes API keys, which take effect at once", async () => {
    const name = newName();
    const made = await kernel.apiKeys.create({ name });
    const theirs = clientWith(made.key);
    expect(await collect(theirs.browserPools.list({ query: name }))).toEqual([]);
    expect(await kernel.apiKeys.retrieve(made.id)).toMatchObject({ name, project_id: null, deleted_at: null });
    expect(JSON.stringify(await kernel.apiKeys.retrieve(made.id))).not.toContain(made.key);
    const renamed = newName();
    expect(await kernel.apiKeys.update(made.id, { name: renamed })).toMatchObject({ id: made.id, name: renamed });
    const listed = await collect(kernel.apiKeys.list({ query: renamed, limit: 1 }));
    expect(listed.map(({ id }) => id)).toEqual([made.id]);
    const rotated = await kernel.apiKeys.rotate(made.id, { expire_in_days: 0 });
    await expect(theirs.browserPools.list()).rejects.toMatchObject({ status: 401 });
    expect(await collect(clientWith(rotated.key).browserPools.list({ query: name }))).toEqual([]);
    await kernel.apiKeys.delete(rotated.id);
    await expect(clientWith(rotated.key).browserPools.list()).rejects.toMatchObject({ status: 401 });
  });

  // AUTH-5, AUTH-8, HTTP-15
  test("has projects that share nothing: no pools, sessions or names", async () => {
    const project = await kernel.projects.create({ name: newName() });
    const key = await kernel.apiKeys.create({ name: newName(), project_id: project.id });
    const theirs = clientWith(key.key);
    const name = newName();
    // One after the other: another replica of the API knows a new key a moment later.
    const [ours, alike] = [await filledPool(kernel, { name }), await filledPool(theirs, { name })];
    expect((await collect(theirs.browserPools.list())).map(({ id }) => id)).toEqual([alike.id]);
    expect((await theirs.browserPools.retrieve(name)).id).toBe(alike.id);
    const sessionName = newName();
    const [our, their] = [
      await acquire(ours.id, { name: sessionName }),
      await acquire(alike.id, { name: sessionName }, theirs),
    ];

    for (const attempt of [
      () => theirs.browserPools.retrieve(ours.id),
      () => theirs.browserPools.update(ours.id, { size: 2 }),
      () => theirs.browserPools.delete(ours.id, { force: true }),
      () => theirs.browserPools.flush(ours.id),
      () => theirs.browserPools.acquire(ours.id, { acquire_timeout_seconds: 0 }),
      () => theirs.browserPools.release(ours.id, { session_id: our.session_id }),
      () => theirs.browserPools.release(alike.id, { session_id: our.session_id }),
      () => theirs.browsers.retrieve(our.session_id),
      () => theirs.browsers.deleteByID(our.session_id),
      () => kernel.browsers.retrieve(their.session_id),
    ])
      await expect(attempt()).rejects.toMatchObject({ status: 404 });
    expect((await collect(theirs.browsers.list())).map(({ session_id }) => session_id)).toEqual([their.session_id]);
    expect(await withCdp(our.cdp_ws_url, tabUrls)).not.toEqual([]);
    await theirs.browserPools.delete(alike.id, { force: true });
    await kernel.browserPools.delete(ours.id, { force: true });
  });

  // AUTH-2, AUTH-6, ORG-9
  test("restricts a project's key to that project", async () => {
    const [project, another] = [
      await kernel.projects.create({ name: newName() }),
      await kernel.projects.create({ name: newName() }),
    ];
    const { key } = await kernel.apiKeys.create({ name: newName(), project_id: project.id });
    const forbidden = { status: 403, error: { code: "forbidden" } };
    for (const projectID of ["default", another.id]) {
      const astray = new Kernel({ baseURL: stack.url, apiKey: key, projectID });
      await expect(astray.browserPools.list()).rejects.toMatchObject(forbidden);
      await expect(astray.browserPools.create({ size: 1 })).rejects.toMatchObject(forbidden);
    }
    await expect(clientWith(key).apiKeys.list()).rejects.toMatchObject(forbidden);
    await expect(clientWith(key).projects.create({ name: newName() })).rejects.toMatchObject(forbidden);
    const inside = new Kernel({ baseURL: stack.url, apiKey: key, projectID: project.id });
    expect(await collect(inside.browserPools.list())).toEqual([]);
  });

  // PROJECT-1, PROJECT-4, AUTH-4
  test("creates, lists and changes projects, and deletes empty ones", async () => {
    const name = newName();
    const project = await kernel.projects.create({ name });
    expect((await collect(kernel.projects.list({ query: name }))).map(({ id }) => id)).toEqual([project.id]);
    const renamed = newName();
    expect(await kernel.projects.update(project.id, { name: renamed })).toMatchObject({ name: renamed });
    const inside = new Kernel({ baseURL: stack.url, apiKey: stack.organization_key, projectID: project.id });
    const pool = await emptyPool(inside);
    await expect(kernel.projects.delete(project.id)).rejects.toMatchObject({ status: 409 });
    await inside.browserPools.delete(pool.id);
    await eventually("the pool is gone", () =>
      kernel.projects.delete(project.id).then(
        () => true,
        (error: { status: number }) => {
          if (error.status !== 409) throw error;
          return false;
        },
      ),
    );
    await expect(kernel.projects.retrieve(project.id)).rejects.toMatchObject({ status: 404 });
  });

  // LIMIT-10, LIMIT-3, PROJECT-7, ORG-8
  test("limits the browsers of a project, and of all projects together", async () => {
    expect(await kernel.organization.limits.retrieve()).toMatchObject({ max_concurrent_sessions: 100 });
    const project = await kernel.projects.create({ name: newName() });
    const inside = new Kernel({ baseURL: stack.url, apiKey: stack.organization_key, projectID: project.id });
    await kernel.projects.limits.update(project.id, { max_concurrent_sessions: 2 });
    // Another replica may hear of it a moment later.
    await eventually("the cap is known", async () => {
      const { max_concurrent_sessions } = await kernel.projects.limits.retrieve(project.id);
      return max_concurrent_sessions === 2;
    });
    await expect(emptyPool(inside, { size: 3 })).rejects.toMatchObject({ status: 400 });
    const { id } = await emptyPool(inside, { size: 2 });
    await kernel.projects.limits.update(project.id, { max_concurrent_sessions: null });
    await expect(inside.browserPools.update(id, { size: 51 })).rejects.toMatchObject({ status: 400 });
    expect((await inside.browserPools.update(id, { size: 3, fill_rate_per_minute: 0 })).browser_pool_config.size).toBe(
      3,
    );
    await expect(inside.browserPools.update(id, { fill_rate_per_minute: fastest + 1 })).rejects.toMatchObject({
      status: 400,
    });
    await inside.browserPools.delete(id);
  });
});
