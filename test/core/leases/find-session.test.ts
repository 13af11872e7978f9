/** The look-up of a session, on a real Redis: what is found, and what it asks Redis for among many pools. */
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ServiceDeps } from "../../../src/cmd/service-deps.ts";
import { readConfig } from "../../../src/core/config/config.ts";
import { createNamesComplete } from "../../../src/core/leases/names-in-use.ts";
import { createApiMetrics } from "../../../src/core/metrics/api-metrics.ts";
import type { BrowserPool } from "../../../src/core/model/pools/browser-pool.ts";
import { mayBeSessionOf, newId, newSessionId } from "../../../src/core/objects/new-id.ts";
import { createCallerLimits } from "../../../src/core/projects/caller-limits.ts";
import type { Project } from "../../../src/core/projects/projects.ts";
import { createSessionNames } from "../../../src/core/reservations/session-names.ts";
import { findSession } from "../../../src/core/sessions/find-session.ts";
import { sessionNamesKey } from "../../../src/platform/redis/keys.ts";
import { endLease } from "../../support/ended-sessions.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";

const project = { id: `p-${crypto.randomUUID()}`, namespace: "ns" } as Project;

let parts: LeaseParts;
const uids: string[] = [];
let deps: ServiceDeps;

beforeAll(async () => {
  parts = await startLeaseParts();
  for (let n = 0; n < 40; n++) {
    const uid = crypto.randomUUID();
    await parts.addBrowser(uid);
    uids.push(uid);
  }
  deps = {
    store: parts.store,
    names: createSessionNames(parts.redis, parts.store),
    namesComplete: createNamesComplete(parts.redis),
    pools: { list: () => pools(uids.length) },
    browsers: { get: () => undefined, list: () => [] },
    kube: { get: async () => undefined },
    callerLimits: createCallerLimits(
      readConfig({}).callers,
      createApiMetrics(new Registry(), () => undefined as never),
    ),
  } as unknown as ServiceDeps;
});
afterAll(() => parts[Symbol.asyncDispose]());

const pools = (count: number): BrowserPool[] =>
  uids
    .slice(0, count)
    .map((uid) => ({ metadata: { name: uid, namespace: "ns", uid }, status: { leaseEpoch: 1 } })) as never;

const requestOf = (uid: string): string =>
  JSON.stringify({ timeout_seconds: 60, max_session_seconds: 3600, pool: { id: uid, uid }, project: project.id });
const begin = async (uid: string): Promise<string> => {
  const session = newSessionId(uid);
  const taken = await parts.store.take(uid, { session, channel: "none", request: requestOf(uid) });
  expect(taken.kind).toBe("granted");
  return session;
};
const first = (): string => uids[0] ?? "";

/** How many commands a look-up sends to Redis among so many pools. */
const commandsOf = async (idOrName: string, count: number): Promise<number> => {
  const sent = vi.spyOn(parts.redis, "sendCommand");
  const among = { ...deps, pools: { list: () => pools(count) } } as unknown as ServiceDeps;
  await findSession(idOrName, { project }, among).catch(() => undefined);
  const { length } = sent.mock.calls;
  sent.mockRestore();
  return length;
};

// HTTP-10
test("the id of a session says which pool may have it", () => {
  const [one = "", two = ""] = uids;
  const id = newSessionId(one);
  expect(id).toMatch(/^[a-z][a-z0-9]{23}$/);
  expect(mayBeSessionOf(id, one)).toBe(true);
  expect(mayBeSessionOf(id, two)).toBe(one.slice(0, 6) === two.slice(0, 6));
  expect(mayBeSessionOf(`a name ${one.slice(0, 6)}`, one)).toBe(false);
  expect(new Set(Array.from({ length: 2000 }, () => newSessionId(one))).size).toBe(2000);
});

// LEASE-21, LEASE-61
test("a session is found among many pools by as few commands as among one, and so is its end, or that there is none", async () => {
  const live = await begin(first());
  expect(await findSession(live, { project }, deps)).toMatchObject({ poolUid: first(), lease: { session: live } });
  const second = uids[1] ?? "";
  const ended = newSessionId(second);
  await endLease(parts, second, { session: ended, request: requestOf(second) });
  await expect(findSession(ended, { project }, deps)).rejects.toThrow(/has ended \(released\)/);
  expect(await findSession(ended, { project, includeEnded: true }, deps)).toMatchObject({ poolUid: second });
  const none = newSessionId(first());
  await expect(findSession(none, { project }, deps)).rejects.toMatchObject({ code: "not_found" });

  for (const session of [live, ended, none]) {
    const few = await commandsOf(session, 2);
    expect(few).toBeGreaterThan(0);
    expect(await commandsOf(session, uids.length)).toBe(few);
  }
});

// LEASE-22
test("a name is found in any pool, whatever it looks like", async () => {
  const last = uids.at(-1) ?? "";
  const session = await begin(last);
  const name = `looks-like-${first().slice(0, 6)}`;
  expect(await deps.names.reserve(project.id, name, { poolUid: last, session })).toBe(true);
  expect(await findSession(name, { project }, deps)).toMatchObject({ poolUid: last, lease: { session } });
});

// LEASE-61
test("a flood of names that nobody has asks the API server a few times, and another project's browser from YAML is found meanwhile", async () => {
  const asked = vi.fn(async (_: unknown, { name }: { name: string }) =>
    name === "from-yaml" ? { metadata: { name, namespace: "ns", uid: crypto.randomUUID() } } : undefined,
  );
  const seeing = { ...deps, kube: { get: asked } } as unknown as ServiceDeps;
  const [flooded, other] = ["f", "o"].map((id) => ({ id: `${id}-${crypto.randomUUID()}`, namespace: "ns" }) as Project);
  if (!flooded || !other) throw new Error("there are two projects");
  const find = (name: string, of: Project): Promise<unknown> => findSession(name, { project: of }, seeing);
  for (let n = 0; n < 300; n++) await expect(find(`nobody-${n}`, flooded)).rejects.toMatchObject({ code: "not_found" });
  expect(asked.mock.calls.length).toBeGreaterThanOrEqual(20);
  expect(asked.mock.calls.length).toBeLessThan(200);
  await expect(find("from-yaml", other)).rejects.toMatchObject({ code: "unavailable", message: /is starting/ });
  asked.mockClear();
  await expect(find(newSessionId(first()), other)).rejects.toMatchObject({ code: "not_found" });
  expect(asked).not.toHaveBeenCalled();
  // A generated id is always asked for: another replica may have made it a moment ago.
  await expect(find(newId(), flooded)).rejects.toMatchObject({ code: "not_found" });
  expect(asked).toHaveBeenCalledOnce();
});

// LEASE-46
test("while a pool is recovered, its sessions and all names may be there, and another pool's sessions are known", async () => {
  const [one = "", , three = ""] = uids;
  await parts.repairs.establish(three, 2);
  const unavailable = { code: "unavailable" };
  await expect(findSession(newSessionId(three), { project }, deps)).rejects.toMatchObject(unavailable);
  await expect(findSession("some-name", { project }, deps)).rejects.toMatchObject(unavailable);
  await expect(findSession(newSessionId(one), { project }, deps)).rejects.toMatchObject({ code: "not_found" });
});

// LEASE-46, LEASE-61
test("a name that nobody has costs as little among many pools, and after a loss is known to be none only when all was recovered", async () => {
  const many = { id: `p-${crypto.randomUUID()}`, namespace: "ns" } as Project;
  const find = (name: string): Promise<unknown> => findSession(name, { project: many }, deps);
  const isNone = { code: "not_found" };
  const commands = async (count: number): Promise<number> => {
    const sent = vi.spyOn(parts.redis, "sendCommand");
    const among = { ...deps, pools: { list: () => pools(count) } } as unknown as ServiceDeps;
    await expect(findSession("nobody", { project: many }, among)).rejects.toMatchObject(isNone);
    const { length } = sent.mock.calls;
    sent.mockRestore();
    return length;
  };
  for (const uid of uids) {
    const { epoch } = await parts.store.snapshot(uid);
    await parts.repairs.recovered(uid, epoch);
  }
  for (const nobody of ["nobody", "!whole", "!check"]) await expect(find(nobody)).rejects.toMatchObject(isNone);
  expect(await commands(uids.length)).toBe(await commands(2));

  // Redis loses the names and a pool; the pool's lease comes back, and its name with it.
  const lost = uids[5] ?? "";
  await parts.redis.unlink(sessionNamesKey(many.id));
  await parts.store.drop(lost);
  await expect(find("nobody")).rejects.toMatchObject({ code: "unavailable" });
  await parts.repairs.establish(lost, 2);
  await expect(find("nobody")).rejects.toMatchObject({ code: "unavailable" });
  await parts.repairs.recovered(lost, 2);
  await expect(find("nobody")).rejects.toMatchObject(isNone);
  expect(await commands(uids.length)).toBe(await commands(2));
  expect((await deps.names.page(many.id)).reserved).toEqual([]);
});

test("that names are whole is not confirmed by a check from before a loss", async () => {
  const id = `p-${crypto.randomUUID()}`;
  const early = await deps.namesComplete.check(id);
  await parts.redis.unlink(sessionNamesKey(id));
  if (!early.isComplete) await early.confirm();
  expect((await deps.namesComplete.check(id)).isComplete).toBe(false);
  const last = await deps.namesComplete.check(id);
  if (!last.isComplete) await last.confirm();
  expect((await deps.namesComplete.check(id)).isComplete).toBe(true);
});
