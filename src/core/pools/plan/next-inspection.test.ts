import { expect, test } from "vitest";
import {
  anObserved,
  aPod,
  nowMs,
  type ObservedOptions,
  type PodOptions,
  podKinds,
} from "../../../../test/support/observed-pool.ts";
import { auditMs, nextInspection } from "./next-inspection.ts";

const second = 1000;

/** `why` and in how many ms. */
const next = (options: PodOptions, observed: ObservedOptions = {}, uid = "a"): [string, number] | undefined => {
  const look = nextInspection(aPod(uid, options), anObserved(observed), nowMs);
  return look && [look.why, look.dueMs - nowMs];
};
const inspectedAgo = (agoMs: number, more: object = {}) => ({ inspection: { atMs: nowMs - agoMs, ...more } });

test.each<[string, PodOptions, [string, number] | undefined]>([
  ["a new one at once", podKinds.warm, ["Warm", 0]],
  ["a suspect at once", { ...podKinds.suspect, inspection: "never" }, ["Suspect", 0]],
  [
    "a suspect that could not be settled, after a moment",
    { ...podKinds.suspect, ...inspectedAgo(0) },
    ["Suspect", second],
  ],
  [
    "a lease when its bind should be done",
    { ...podKinds.leased, ageMs: 4 * second, ...inspectedAgo(60 * second) },
    ["Leased", 6 * second],
  ],
  [
    "a release when it should be done",
    { ...podKinds.releasing, ageMs: second, ...inspectedAgo(30 * second) },
    ["Releasing", 9 * second],
  ],
  [
    "a release that got stuck, again and again",
    { ...podKinds.releasing, ageMs: 60 * second, ...inspectedAgo(4 * second) },
    ["Releasing", 6 * second],
  ],
  [
    "one in use that does not answer its probe, too",
    { ...podKinds["unready leased"], ageMs: 0 },
    ["Leased", 10 * second],
  ],
  [
    "one in use that may have ended and keeps its profile, again and again",
    { ...podKinds["unready leased"], saves: true },
    ["Ending", second],
  ],
  [
    "one whose agent did not answer, after a back-off",
    { ...podKinds.warm, ...inspectedAgo(100, { failures: 1 }) },
    ["Warm", 400],
  ],
  [
    "and never less often than every 5 s",
    { ...podKinds.idle, ...inspectedAgo(0, { failures: 30 }) },
    ["Audit", 5 * second],
  ],
  ["not one that starts", podKinds.starting, undefined],
  ["not one that is to be destroyed", podKinds.retired, undefined],
  ["not one that is going", podKinds.terminating, undefined],
  ["not one that has ended", podKinds["crashed leased"], undefined],
])("%s", (_, options, expected) => {
  expect(next(options)).toEqual(expected);
});

// LEASE-47
test("a record's age is told by Redis' clock, whatever the own one says", () => {
  const leased = { ...podKinds.leased, ageMs: 3_600_000, ...inspectedAgo(60_000) };
  expect(next(leased, { leases: { nowMs: nowMs - 3_600_000 } })).toEqual(["Leased", 10 * second]);
});

// LEASE-54
test("while callers wait, a lease is inspected as soon as its replica would be known to stand still, and once", () => {
  const busy = { leases: { waiting: 1 } };
  const leased = { ...podKinds.leased, ageMs: second };
  expect(next({ ...leased, ...inspectedAgo(60 * second) }, busy)).toEqual(["Leased", 1.5 * second]);
  expect(next({ ...podKinds.leased, ageMs: 4 * second, ...inspectedAgo(second) }, busy)?.[0]).toBe("Audit");
});

const many = Array.from({ length: 2000 }, (_, place) => `browser-${place}`);

test("when this replica begins to lead 10,000 browsers, they are inspected within 20 s, spread", () => {
  const times = many.map((uid) => next(podKinds.idle, { disturbedAtMs: nowMs + 1, fleet: 10_000 }, uid)?.[1] ?? -1);
  expect(Math.max(...times)).toBeGreaterThan(19 * second);
  expect(Math.max(...times)).toBeLessThanOrEqual(20 * second);
});

test("each browser is audited once a minute at its own moment, and many are spread over the minute evenly", () => {
  const perSecond = new Map<number, number>();
  for (const uid of many) {
    const [why, first = 0] = next(podKinds.idle, {}, uid) ?? [];
    expect(why).toBe("Audit");
    expect(first).toBeGreaterThanOrEqual(auditMs / 2);
    expect(first).toBeLessThanOrEqual(auditMs * 1.5);
    const then = nextInspection(
      aPod(uid, { ...podKinds.idle, inspection: { atMs: nowMs + first } }),
      anObserved(),
      nowMs + first,
    );
    expect((then?.dueMs ?? 0) - nowMs - first).toBe(auditMs);
    const moment = Math.floor((first % auditMs) / second);
    perSecond.set(moment, (perSecond.get(moment) ?? 0) + 1);
  }
  expect(perSecond.size).toBe(60);
  expect(Math.max(...perSecond.values())).toBeLessThan((3 * many.length) / 60);
});

test.each<[string, PodOptions, ObservedOptions]>([
  ["Redis came back", { ...podKinds.idle, ...inspectedAgo(10 * second) }, { disturbedAtMs: nowMs }],
  ["this replica began to lead", { ...podKinds.leased, inspection: "never" }, { disturbedAtMs: nowMs }],
  [
    "its epoch was raised, and it was recovered",
    { ...podKinds.idle, inspection: { epoch: 1 } },
    { disturbedAtMs: nowMs, leases: { epoch: 2 } },
  ],
])("when %s, every browser is inspected within 5 s, spread", (_, options, observed) => {
  const due = many.map((uid) => next(options, observed, uid));
  expect(new Set(due.map((look) => look?.[0]))).toEqual(new Set(["Disturbed"]));
  const times = due.map((look) => look?.[1] ?? -1);
  expect(Math.min(...times)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...times)).toBeLessThan(5 * second);
  expect(new Set(times).size).toBeGreaterThan(1000);
});
