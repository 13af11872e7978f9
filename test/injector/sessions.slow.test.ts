/**
 * The routes of sessions, with each of their calls to Kubernetes, Redis and agents failing in turn: what the caller is
 * told, that no browser is held that nobody knows of, and that names and limits have their places again.
 */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ServiceDeps } from "../../src/cmd/service-deps.ts";
import { createAbandonedSessions } from "../../src/core/leases/abandoned-sessions.ts";
import { releaseLease } from "../../src/core/leases/release-lease.ts";
import { createReturningBrowsers } from "../../src/core/leases/returning-browsers.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { fullPool, poolAt } from "../support/pool-client.ts";
import { type FaultKind, faultKinds, serviceFailures, type TriedFault, tryEveryFault } from "./injector.ts";
import {
  type Answer,
  type Asked,
  expectUnavailable,
  type Request,
  requestFaults,
  type SessionParts,
  startSessionParts,
  type Told,
} from "./session-parts.ts";

let parts: SessionParts;
type Pool = { id: string; uid: string; size: number };
/** Two browsers, and one. */
let pool: Pool;
let single: Pool;
beforeAll(async () => {
  parts = await startSessionParts({ BROWSERPOOL_PROJECT_ON_DEMAND_SESSIONS: "1" });
  pool = await newPool(2);
  single = await newPool(1);
});
afterAll(() => parts?.[Symbol.asyncDispose]());
/** One test that fails leaves the others what they need. */
afterEach(async () => {
  await parts.cluster.node.starts({});
  const { body } = await parts.ask({ method: "GET", path: "/browsers" });
  for (const { session_id } of body) await parts.ask({ method: "DELETE", path: `/browsers/${session_id}` });
});

const call = async (method: string, path: string, body?: unknown): Promise<Response> => {
  const answer = await parts.ask({ method, path, ...(body !== undefined && { body: body as object }) });
  return new Response(answer.status === 204 ? null : JSON.stringify(answer.body), { status: answer.status });
};

const sessionOf = (told: Told): string | undefined =>
  told !== "hung up" && told.status === 200 ? told.body.session_id : undefined;
const keyed = (asked: Asked): Asked => ({ ...asked, headers: { "idempotency-key": randomUUID() } });
const newPool = async (size: number, fields: object = {}): Promise<Pool> => {
  const { id } = await fullPool(call, size, fields);
  const uid = parts.whole.pools.get({ namespace: parts.cluster.namespace, name: id })?.metadata.uid ?? "";
  return { id, uid, size };
};
const acquiring = ({ id }: Pool, body: object = {}): Asked => ({
  method: "POST",
  path: `/browser_pools/${id}/acquire`,
  body: { acquire_timeout_seconds: 1, ...body },
});
const acquired = async (of: Pool, body: object = {}): Promise<{ session_id: string }> => {
  const answer = await parts.ask(acquiring(of, { acquire_timeout_seconds: 30, ...body }));
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};
const whenFull = ({ id, size }: Pool): Promise<void> => poolAt(call, id).whenCounts({ acquired: 0, available: size });
const end = async ({ uid: poolUid }: Pool, session: string): Promise<void> =>
  void (await releaseLease({ poolUid, session, reuse: "reset", reason: "released" }, parts.whole));
/** The same request again, with the same key. */
const askAgain = (asked: Asked): Promise<Answer> =>
  eventually("the repetition is answered", async () => {
    const answer = await parts.ask(asked);
    // A browser that was taken back needs its room until it is gone.
    return !["idempotency_in_progress", "too_many_requests"].includes(answer.body.code) && answer;
  });

/**
 * After a request for a browser, whatever has failed: nothing is held but what the caller was told of, its name is free
 * if that is nothing, and its repetition with the same key gets that browser, or one for itself.
 */
const checkAsked = async ({ asked, name }: Tried, told: Told): Promise<string> => {
  const first = sessionOf(told);
  await parts.onlyHeld(...(first === undefined ? [] : [first]));
  if (name !== undefined) expect(await parts.holderOf(name)).toBe(first);
  const again = await askAgain(asked);
  if (told !== "hung up" && told.status === 204) {
    expect(again.status).toBe(204);
    return "";
  }
  expect(again, JSON.stringify(again.body)).toMatchObject({ status: 200 });
  const session = sessionOf(again) ?? "";
  if (first !== undefined) expect(session).toBe(first);
  await parts.onlyHeld(session);
  if (name !== undefined) expect(await parts.holderOf(name)).toBe(session);
  return session;
};

/** A request whose every call is made to fail. `names`: those that the session has or may get. */
type Tried = Request & { name?: string; before?: string; session?: string };

/** Whether the caller must not notice: one call to Redis has failed, and it may be repeated. */
const isBlip = ({ kind, name }: TriedFault): boolean =>
  (kind === "refused" || kind === "lost") && !/^(kube|agents|setupClient)\./.test(name);

/** Without its agents a browser goes to nobody: the caller waits in vain (LEASE-3). */
const areAgentsAway = (fault: TriedFault): boolean => fault.kind === "last" && fault.name.startsWith("agents.");

type Trial = {
  usual: number;
  kinds?: readonly FaultKind[];
  isTried?(fault: TriedFault): boolean;
  /** Whether the caller notices nothing of one call to Redis that fails. */
  outlivesBlips?: boolean;
  prepare(): Promise<Tried>;
  work?(tried: Tried, faulty: ServiceDeps): Promise<Told>;
  check(tried: Tried, told: Told, fault: TriedFault): Promise<void>;
};

/**
 * Has every call of a request fail. What the caller is told is the usual answer, or that something does not answer now.
 */
const tryEvery = ({
  usual,
  kinds = requestFaults,
  isTried = () => true,
  outlivesBlips = false,
  prepare,
  work = parts.serve,
  check,
}: Trial): Promise<string[]> =>
  tryEveryFault<Tried, Told, ServiceDeps>({
    parts: parts.whole,
    failures: serviceFailures,
    kinds,
    isTried,
    prepare,
    work,
    leave: parts.leave,
    settle: parts.settle,
    async check(tried, ended, fault) {
      if ("error" in ended) throw ended.error;
      const told = ended.result;
      if (told !== "hung up" && told.status !== usual && !(told.status === 204 && areAgentsAway(fault))) {
        expectUnavailable(told);
        if (fault.kind !== "none" && outlivesBlips)
          expect(isBlip(fault), "a call to Redis that fails once").toBe(false);
      }
      await check(tried, told, fault);
    },
  });

// LEASE-5, LEASE-36, LEASE-39, LEASE-56, HTTP-20, HTTP-21
test.each([
  ["an acquire", () => undefined],
  ["an acquire with a name", () => `n-${newId()}`],
])("%s leaves no browser with nobody", async (_, newName) => {
  await tryEvery({
    usual: 200,
    outlivesBlips: true,
    async prepare() {
      await whenFull(pool);
      const name = newName();
      return {
        ...parts.request(keyed(acquiring(pool, { ...(name !== undefined && { name }) }))),
        ...(name && { name }),
      };
    },
    async check(tried, told) {
      await end(pool, await checkAsked(tried, told));
    },
  });
});

// LEASE-3, LEASE-5, LEASE-42
test("an acquire that waits leaves no place in the queue, and no browser with nobody", async () => {
  await tryEvery({
    usual: 200,
    outlivesBlips: true,
    async prepare() {
      await whenFull(single);
      const session = (await acquired(single)).session_id;
      return { ...parts.request(keyed(acquiring(single, { acquire_timeout_seconds: 4 }))), session };
    },
    async work(tried, faulty) {
      let isAnswered = false;
      const told = parts.serve(tried, faulty).finally(() => {
        isAnswered = true;
      });
      const waits = async () => isAnswered || (await parts.whole.store.snapshot(single.uid)).waiting === 1;
      await eventually("the caller waits", waits);
      await end(single, tried.session ?? "");
      return told;
    },
    async check(tried, told) {
      await end(single, await checkAsked(tried, told));
    },
  });
});

// LEASE-3
test("an acquire whose time is up leaves no place in the queue", async () => {
  await whenFull(single);
  const holder = (await acquired(single)).session_id;
  await tryEvery({
    usual: 204,
    outlivesBlips: true,
    prepare: async () => parts.request(acquiring(single, { acquire_timeout_seconds: 0 })),
    check: () => parts.onlyHeld(holder),
  });
  await end(single, holder);
});

// LEASE-1, LEASE-3
test("a browser that is granted in the moment in which its caller's time is up goes to that caller", async () => {
  await whenFull(single);
  const holder = (await acquired(single)).session_id;
  const { store } = parts.whole;
  const cancel: typeof store.cancel = async (uid, session) => {
    await end(single, holder);
    await eventually("the caller has its grant", () => store.lease(uid, session));
    return store.cancel(uid, session);
  };
  const late = parts.request(acquiring(single, { acquire_timeout_seconds: 0 }));
  const told = await parts.serve(late, { ...parts.whole, store: { ...store, cancel } });
  expect(told).toMatchObject({ status: 200 });
  await parts.onlyHeld(sessionOf(told) ?? "");
  await end(single, sessionOf(told) ?? "");
});

// LEASE-26, LEASE-27, LEASE-30, LEASE-44, LEASE-56
test.each([
  ["with", true],
  ["without", false],
])("a release %s reuse ends its session, and the pool is whole again", async (_, reuse) => {
  await tryEvery({
    usual: 204,
    kinds: ["lost", "last"],
    outlivesBlips: true,
    async prepare() {
      await whenFull(pool);
      const name = `n-${newId()}`;
      const { session_id } = await acquired(pool, { name });
      const path = `/browser_pools/${pool.id}/release`;
      return { ...parts.request(keyed({ method: "POST", path, body: { session_id, reuse } })), name };
    },
    async check({ asked, name = "" }, told) {
      const again = await askAgain(asked);
      // It may have been done the first time, though nobody was told.
      expect(told !== "hung up" && told.status === 204 ? [204] : [204, 404]).toContain(again.status);
      await parts.onlyHeld();
      expect(await parts.holderOf(name)).toBeUndefined();
    },
  });
});

// LEASE-25, LEASE-56
test("an end of a session ends it, and the pool is whole again", async () => {
  await tryEvery({
    usual: 204,
    kinds: ["lost", "last"],
    async prepare() {
      await whenFull(pool);
      const name = `n-${newId()}`;
      const { session_id } = await acquired(pool, { name });
      return { ...parts.request({ method: "DELETE", path: `/browsers/${session_id}` }), name };
    },
    async check({ asked, name = "" }, told) {
      const again = await parts.ask(asked);
      expect(told !== "hung up" && told.status === 204 ? [404] : [204, 404]).toContain(again.status);
      await parts.onlyHeld();
      expect(await parts.holderOf(name)).toBeUndefined();
    },
  });
});

// POOL-13
test("a flush takes no browser in use, and the pool is whole again", async () => {
  await whenFull(pool);
  const { session_id: holder } = await acquired(pool);
  await tryEvery({
    usual: 204,
    async prepare() {
      await poolAt(call, pool.id).whenCounts({ acquired: 1, available: 1 });
      return parts.request({ method: "POST", path: `/browser_pools/${pool.id}/flush` });
    },
    check: () => parts.onlyHeld(holder),
  });
  await end(pool, holder);
});

/**
 * Whether a name of a session may be taken for some minutes, although no session has it: Redis did not hear more of it.
 */
const mayStay = (fault: TriedFault): boolean => fault.name === "names.free" || fault.kind === "last";

/** Whether an agent was told last to capture something. */
const capturing = async (): Promise<boolean> =>
  ((await parts.cluster.node.captured()) as ({ enabled?: boolean } | null)[]).some((one) => one?.enabled === true);

// LEASE-6, LEASE-24, BROWSER-29
test.each([
  ["name and tags", {}],
  ["name and telemetry", { telemetry: { enabled: true, browser: { console: { enabled: true } } } }],
])("a change of a session's %s holds or not, and the other name is free", async (_, more) => {
  await whenFull(single);
  const { session_id: session } = await acquired(single);
  const path = `/browsers/${session}`;
  const ask = (method: string, body?: object) => parts.ask({ method, path, ...(body && { body }) });
  await tryEvery({
    usual: 200,
    async prepare() {
      const [before, name] = [`before-${newId()}`, `after-${newId()}`];
      const telemetry = "telemetry" in more ? { telemetry: { enabled: false } } : {};
      expect(await ask("PATCH", { name: before, tags: {}, ...telemetry })).toMatchObject({ status: 200 });
      return { ...parts.request({ method: "PATCH", path, body: { name, tags: { of: name }, ...more } }), name, before };
    },
    async check({ asked, name = "", before = "" }, told, fault) {
      const { body: now } = await ask("GET");
      expect(sessionOf(told) ? [name] : [name, before]).toContain(now.name);
      expect(now.tags?.of).toBe(now.name === name ? name : undefined);
      expect(await parts.holderOf(now.name)).toBe(session);
      if (!mayStay(fault)) expect(await parts.holderOf(now.name === name ? before : name)).toBeUndefined();
      if (!areAgentsAway(fault) && "telemetry" in more) expect(await capturing()).toBe(now.telemetry !== undefined);
      expect(await parts.ask(asked)).toMatchObject({ status: 200, body: { name } });
    },
  });
  await end(single, session);
});

// LEASE-21, LEASE-22, LEASE-23, HTTP-20
test("what is read of sessions is as ever, or nothing", async () => {
  await whenFull(pool);
  const name = `n-${newId()}`;
  const ended = await acquired(pool);
  await end(pool, ended.session_id);
  const { session_id } = await acquired(pool, { name });
  const read = [
    ...[`/${session_id}`, `/${name}`, `/${ended.session_id}?include_deleted=true`],
    ...["", "?status=deleted&limit=1", `?status=all&query=${ended.session_id}`, `?query=${name}`],
  ];
  const shown = ({ body }: Answer) => JSON.stringify(body).replace(/"uptime_ms":\d+/g, "");
  for (const rest of read) {
    const asked = { method: "GET", path: `/browsers${rest}` };
    const usual = shown(await parts.ask(asked));
    const calls = await tryEvery({
      usual: 200,
      kinds: ["refused"],
      prepare: async () => parts.request(asked),
      async check(_tried, told) {
        if (told !== "hung up" && told.status === 200) expect(shown(told)).toBe(usual);
      },
    });
    expect(calls.length).toBeGreaterThan(0);
  }
  await end(pool, session_id);
});

const starting = (body: object = {}): Asked => ({
  method: "POST",
  path: "/browsers",
  body: { headless: true, timeout_seconds: 600, ...body },
});
const destroy = async (session: string): Promise<void> => {
  expect(await parts.ask({ method: "DELETE", path: `/browsers/${session}` })).toMatchObject({ status: 204 });
  await parts.onlyHeld();
};

// BROWSER-10, LIMIT-20, LIMIT-21, LEASE-56, HTTP-20, HTTP-21
test("an on-demand browser that nobody got is gone, and so is what it took of the limits", async () => {
  const calls = await tryEvery({
    usual: 200,
    outlivesBlips: true,
    kinds: ["lost", "last", "gone"],
    // Then the caller waits as long as for a start.
    isTried: (fault) => !areAgentsAway(fault),
    async prepare() {
      await parts.onlyHeld();
      const name = `n-${newId()}`;
      return { ...parts.request(keyed(starting({ name }))), name };
    },
    check: async (tried, told) => destroy(await checkAsked(tried, told)),
  });
  expect(calls).toEqual(expect.arrayContaining(["sessionRoom.reserve", "kube.create", "names.reserve", "agents.bind"]));
}, 120_000);

// BROWSER-9
test("the caller of a browser that has failed before its creation was answered hears of it", async () => {
  const { kube, browsers } = parts.whole;
  await parts.cluster.node.starts({ failingShare: 1 });
  const create: typeof kube.create = async (type, object) => {
    const made = await kube.create(type, object);
    const hasFailed = () =>
      browsers.list().some(({ metadata: { uid }, status }) => uid === made.metadata.uid && status?.phase === "Failed");
    await eventually("the operator says that it has failed", hasFailed);
    return made;
  };
  const told = await parts.serve(parts.request(starting()), { ...parts.whole, kube: { ...kube, create } });
  expect(told).toMatchObject({ status: 503, body: { code: "browser_not_started" } });
  await parts.onlyHeld();
});

// POOL-22, LEASE-5, LEASE-56, HTTP-21
test("a browser of a pool that serves on demand and that nobody got is idle again", async () => {
  const serving = await newPool(1, { serve_on_demand: true });
  const calls = await tryEvery({
    usual: 200,
    outlivesBlips: true,
    isTried: (fault) => !areAgentsAway(fault),
    async prepare() {
      await parts.onlyHeld();
      await whenFull(serving);
      const name = `n-${newId()}`;
      return { ...parts.request(keyed(starting({ name }))), name };
    },
    check: async (tried, told) => destroy(await checkAsked(tried, told)),
  });
  expect(calls).not.toContain("kube.create");
  expect(await parts.ask({ method: "DELETE", path: `/browser_pools/${serving.id}`, body: {} })).toMatchObject({
    status: 204,
  });
});

// LEASE-5, LEASE-44
test("a browser whose caller has gone goes to the next one, whatever fails while it is taken back", async () => {
  await tryEveryFault<{ session: string; giveBack?: Promise<void> }, void, ServiceDeps>({
    parts: parts.whole,
    failures: { store: serviceFailures.store, agents: serviceFailures.agents },
    kinds: [...faultKinds, "last"],
    async prepare() {
      await whenFull(single);
      return { session: (await acquired(single)).session_id };
    },
    async work(state, { store, agents, log }, missedTwice) {
      const returningBrowsers = createReturningBrowsers({ store, agents, log });
      const abandoned = createAbandonedSessions({ store, agents, returningBrowsers, log });
      abandoned.add(single.uid, state.session);
      let isOver = false;
      state.giveBack = abandoned
        .drain(60_000)
        .then(() => returningBrowsers.drain(60_000))
        .then(() => {
          isOver = true;
        });
      // What is away comes back when it was missed twice.
      await eventually("it is given back, or tried again", () => isOver || missedTwice.aborted);
    },
    settle: ({ giveBack }) => giveBack ?? Promise.resolve(),
    check: async () => {
      await parts.onlyHeld();
      await whenFull(single);
    },
  });
});
