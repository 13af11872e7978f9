import { expect, test, vi } from "vitest";
import type { EndedLease } from "../leases/records.ts";
import { createEndings } from "./endings.ts";

const session = { poolUid: "pool", sessionId: "s1" };

const storeOf = (reasons: (string | undefined)[]) => ({
  endedLease: vi.fn(async () => {
    const reason = reasons.length > 1 ? reasons.shift() : reasons[0];
    return reason === undefined ? undefined : ({ reason } as EndedLease);
  }),
});

// LEASE-66
test.each([
  ["released", 4000],
  ["deleted", 4000],
  ["pool_deleted", 4000],
  ["timeout", 4001],
  ["max_lifetime", 4001],
  ["browser_crashed", 4002],
  ["browser_lost", 4002],
  ["node_drained", 4003],
  ["pod_deleted", 4003],
  ["constructor", 4000],
])("a session that ended as %s is told with %d and this word", async (reason, code) => {
  const whyCut = createEndings(storeOf([reason]));
  expect(await whyCut(session)).toEqual({ code, reason: `the session has ended: ${reason}` });
});

test("a reason that Redis has a moment later is waited for, by one question for all of a session's connections", async () => {
  const store = storeOf([undefined, undefined, "browser_crashed"]);
  const whyCut = createEndings(store);
  const told = await Promise.all(Array.from({ length: 64 }, () => whyCut(session)));
  expect(new Set(told.map(({ code }) => code))).toEqual(new Set([4002]));
  expect(store.endedLease).toHaveBeenCalledTimes(3);
});

test("a Redis that does not answer holds no connection open", async () => {
  const whyCut = createEndings({ endedLease: () => new Promise(() => undefined) });
  const begunMs = performance.now();
  expect(await whyCut(session)).toMatchObject({ code: 1001 });
  expect(performance.now() - begunMs).toBeLessThan(4000);
});

test("what Redis can't tell within two seconds is told as before, and asked anew for the next connection", async () => {
  const store = { endedLease: vi.fn(async () => Promise.reject(new Error("no Redis"))) };
  const whyCut = createEndings(store);
  const begunMs = performance.now();
  expect(await whyCut(session)).toEqual({ code: 1001, reason: "the session has ended, or its browser has" });
  expect(performance.now() - begunMs).toBeGreaterThanOrEqual(1900);
  expect(store.endedLease.mock.calls.length).toBeLessThanOrEqual(21);
  const before = store.endedLease.mock.calls.length;
  await whyCut(session);
  expect(store.endedLease.mock.calls.length).toBeGreaterThan(before);
});
