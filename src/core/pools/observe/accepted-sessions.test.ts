import { expect, test } from "vitest";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { createAcceptedSessions, type SessionKind } from "./accepted-sessions.ts";

const limits = { pooledSessions: 100, onDemandSessions: 100, projectOnDemandSessions: 100 };
const caps = { of: () => undefined, projects: () => [], synced: async () => undefined, stop: async () => undefined };

/** A pool or browser of this size whose status tells what was accepted before; `more`: of its metadata. */
const one = (uid: string, size: number, acceptedSize?: number, more: object = {}): BrowserPool =>
  ({ metadata: { uid, name: uid, namespace: "a", ...more }, spec: { size }, status: { acceptedSize } }) as BrowserPool;

const acceptedBy = (objects: Partial<Record<SessionKind, BrowserPool[]>>, setAside?: string) => {
  const acceptedSessions = createAcceptedSessions({ limits, caps, setAside });
  const open = (kind: SessionKind) =>
    acceptedSessions.open(kind, { list: () => objects[kind] ?? [], synced: async () => undefined });
  return { acceptedSessions, accepted: { pools: open("pools"), browsers: open("browsers") } };
};

// LIMIT-10
test("what a loop has just accepted counts for the others, and not what a status told before", () => {
  const [growing, asking] = [one("growing", 8, 2), one("asking", 1)];
  const { acceptedSessions, accepted } = acceptedBy({ pools: [growing, asking] });
  expect(acceptedSessions.use(asking).inProject).toEqual({ pooled: 2, onDemand: 0 });
  accepted.pools.set("growing", 8);
  expect(acceptedSessions.use(asking).inProject).toEqual({ pooled: 8, onDemand: 0 });
  expect(acceptedSessions.use(growing).inProject).toEqual({ pooled: 0, onDemand: 0 });
});

test("an object that is being deleted, an on-demand browser that is over, and another project's use no room here", () => {
  const asking = one("asking", 1);
  const { acceptedSessions } = acceptedBy({
    pools: [asking, one("going", 3, 3, { deletionTimestamp: "now" }), one("theirs", 5, 5, { namespace: "b" })],
    browsers: [one("over", 0, 1), one("on", 1, 1), one("their-on", 1, 1, { namespace: "b" })],
  });
  expect(acceptedSessions.use(asking)).toMatchObject({
    inProject: { pooled: 0, onDemand: 1 },
    onDemandInAll: 2,
    limits,
  });
  expect(acceptedSessions.uids()).toEqual(new Set(["asking", "going", "theirs", "over", "on", "their-on"]));
});

test("the namespace that is set aside counts nowhere, and nothing bounds it", () => {
  const trial = one("trial", 1, 1, { namespace: "trials" });
  const asking = one("asking", 1);
  const { acceptedSessions } = acceptedBy({ pools: [asking], browsers: [trial] }, "trials");
  expect(acceptedSessions.use(asking).onDemandInAll).toBe(0);
  expect(acceptedSessions.use(trial)).toMatchObject({
    onDemandInAll: 0,
    limits: { onDemandSessions: Number.POSITIVE_INFINITY },
  });
});
