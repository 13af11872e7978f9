import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { createApiMetrics } from "../metrics/api-metrics.ts";
import { type CallerLimits, createCallerLimits } from "./caller-limits.ts";

const totals = () => ({ size: 0, available: 0, acquired: 0, starting: 0, waiting: 0 });
const settings = {
  BROWSERPOOL_KEY_REQUESTS_PER_SECOND: "5",
  BROWSERPOOL_PROJECT_REQUESTS_PER_SECOND: "1000",
  BROWSERPOOL_KEY_OPEN_REQUESTS: "2",
  BROWSERPOOL_KEY_WAITING_ACQUIRES: "2",
  BROWSERPOOL_PROJECT_WAITING_ACQUIRES: "3",
  BROWSERPOOL_PROJECT_CONNECTIONS: "1",
  BROWSERPOOL_FAILED_ATTEMPTS_PER_MINUTE: "3",
};

const made = () => {
  const clock = { ms: 0 };
  const registry = new Registry();
  const limits = createCallerLimits(readConfig(settings).callers, createApiMetrics(registry, totals), () => clock.ms);
  return { clock, limits, registry };
};
const rateLimited = expect.objectContaining({ code: "rate_limited" });
const enters = (limits: CallerLimits, id = "a"): boolean => {
  try {
    limits.enter("key", id)();
    return true;
  } catch (error) {
    expect(error).toEqual(rateLimited);
    return false;
  }
};

// LIMIT-13
test("a burst of two seconds passes, then the rate; the refusal says when to come again", () => {
  const { clock, limits } = made();
  expect(Array.from({ length: 12 }, () => enters(limits)).filter(Boolean)).toHaveLength(10);
  expect(() => limits.enter("key", "a")).toThrow(expect.objectContaining({ retryAfterSeconds: 0.2 }));
  expect(enters(limits, "b")).toBe(true);
  clock.ms = 200;
  expect([enters(limits), enters(limits)]).toEqual([true, false]);
});

// LIMIT-22
test("an open request counts until it leaves, and leaving twice is leaving once", () => {
  const { limits } = made();
  const [first] = [limits.enter("key", "a"), limits.enter("key", "a")];
  expect(enters(limits)).toBe(false);
  first?.();
  first?.();
  const again = limits.enter("key", "a");
  expect(enters(limits)).toBe(false);
  again();
  expect(enters(limits)).toBe(true);
});

// LIMIT-14
test("a caller without a place in its project takes none of its key", () => {
  const { limits } = made();
  const queue = (keyId: string) => limits.enterQueue({ keyId, projectId: "p" });
  const first = [queue("a"), queue("a"), queue("b")];
  expect([queue("a"), queue("b")]).toEqual([undefined, undefined]);
  first[0]?.();
  expect(queue("b")).toBeDefined();
  expect(queue("a")).toBeUndefined();
  expect(limits.enterQueue({ keyId: "a", projectId: "other" })).toBeDefined();
});

test("a project's connections, an address' failures and a ticket's uses have bounds of their own", async () => {
  const { limits, registry } = made();
  limits.connect("p");
  expect(() => limits.connect("p")).toThrow(rateLimited);
  limits.connect("q");
  expect(["1", "1", "1", "1", "2"].map((address) => limits.failed(address)?.code)).toEqual([
    undefined,
    undefined,
    undefined,
    "rate_limited",
    undefined,
  ]);
  for (let use = 0; use < 30; use++) limits.countTicket("t");
  expect(() => limits.countTicket("t")).toThrow(rateLimited);
  limits.countTicket("u");
  const text = await registry.getSingleMetricAsString("browserpool_limited_requests_total");
  for (const limit of ["connections", "failed_attempts", "login_ticket"])
    expect(text).toContain(`{limit="${limit}"} 1`);
});

// LEASE-61
test("a project looks for 20 unknown names at once, and for 20 a second then", () => {
  const { clock, limits } = made();
  const looks = (projectId: string): number =>
    Array.from({ length: 50 }, () => limits.mayLookFor(projectId)).filter(Boolean).length;
  expect([looks("p"), looks("p"), looks("q")]).toEqual([20, 0, 20]);
  clock.ms += 500;
  expect(looks("p")).toBe(10);
});

test("a flood from very many addresses is forgotten, and forgets no caller with a key", () => {
  const { limits } = made();
  while (enters(limits));
  for (let address = 0; address < 50_000; address++) limits.failed(String(address));
  expect(enters(limits)).toBe(false);
  // The oldest address was dropped: its bucket is full again.
  expect([1, 2, 3].map(() => limits.failed("0"))).toEqual([undefined, undefined, undefined]);
});

// LIMIT-35
test("answers under way are bounded in bytes for a key, a project and the replica, but one alone passes and so does what must", () => {
  const { limits } = made();
  const mib = 2 ** 20;
  const enter = (keyId: string, projectId: string, size: number, mayRefuse = true) =>
    limits.enterAnswer({ keyId, projectId }, size * mib, mayRefuse);
  const first = enter("a", "p", 40);
  expect(() => enter("a", "p", 1)).toThrow(rateLimited);
  const must = enter("a", "p", 1, false);
  enter("b", "p", 20);
  expect(() => enter("c", "p", 4)).toThrow(rateLimited);
  first();
  must();
  must();
  enter("a", "p", 32);
  for (let project = 0; project < 2; project++) enter(`key${project}`, `p${project}`, 32);
  expect(() => enter("z", "z", 13)).toThrow(rateLimited);
  enter("z", "z", 12);
});

// STREAM-6
test("streams have a bound of their own for a key, a project and the replica, and a refused one takes no place", () => {
  const { limits } = made();
  const open = (keyId: string, projectId: string, count: number) =>
    Array.from({ length: count }, () => limits.enterStream({ keyId, projectId }));
  const [first] = open("a", "p", 50);
  expect(() => open("a", "p", 1)).toThrow(rateLimited);
  open("b", "p", 50);
  expect(() => open("c", "p", 1)).toThrow(rateLimited);
  first?.();
  open("c", "p", 1);
  for (let project = 0; project < 8; project++) open(`key${project}`, `p${project}`, 50);
  expect(() => open("z", "z", 1)).toThrow(rateLimited);
});
