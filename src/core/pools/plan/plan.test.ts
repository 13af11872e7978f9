import { describe, expect, test } from "vitest";
import {
  anObserved,
  aPod,
  aPool,
  aRecord,
  nowMs,
  type ObservedOptions,
  type PodKind,
  podKinds,
  podsOf,
} from "../../../../test/support/observed-pool.ts";
import { at, full, line, planned } from "../../../../test/support/planned.ts";
import type { Refusal } from "../observe/observed.ts";
import { planPool } from "./plan.ts";
import { startDeadlineMs } from "./starts.ts";

describe("rule 1: a record without a living pod", () => {
  test.each<[string, ObservedOptions, string]>([
    [
      "is closed as lost when the pod has vanished",
      { leases: { browsers: [aRecord("x", "leased")] } },
      "close x browser_lost",
    ],
    ["is closed as crashed when its browser crashed", full("crashed leased"), "close crashed-leased-0 browser_crashed"],
    ["is closed as timed out when the agent's idle timer ended it", full("timed out"), "close timed-out-0 timeout"],
    ["is closed when its pod is being deleted", full("terminating leased"), "close terminating-leased-0 pod_deleted"],
    [
      "is closed as deleted when the evicted pod has vanished",
      { leases: { browsers: [aRecord("x", "leased", 0, { leaving: "Evicted" })] } },
      "close x pod_deleted",
    ],
    [
      "is closed as deleted when the evicted pod was killed at the end of its grace",
      {
        pods: [
          aPod("x", { state: { is: "ended", reason: "lost", message: "killed" }, browser: "leased", deletedInMs: 0 }),
        ],
      },
      "close x pod_deleted",
    ],
    [
      "is closed as lost when the grace of its evicted pod was over long ago",
      full("evicted and lost"),
      "close evicted-and-lost-0 browser_lost",
    ],
    [
      "is closed as lost when its node and its agent are silent for long",
      full("silent leased"),
      "close silent-leased-0 browser_lost",
    ],
  ])("%s", (_, observed, action) => {
    expect(planned(observed)).toContain(action);
  });

  test("stays while a pod that nobody may get is still being deleted", () => {
    expect(planned(full("terminating retired")).filter((action) => action.startsWith("close"))).toEqual([]);
  });

  test("and an ended pod is deleted in the same round", () => {
    expect(planned(full("crashed idle"))).toEqual(
      expect.arrayContaining(["close crashed-idle-0 browser_crashed", "delete crashed-idle-0 Ended"]),
    );
  });

  test("a pod that ended before it entered the pool is a failed start, unless it was told to stop", () => {
    expect(planned(full("failed start"))).toEqual(
      expect.arrayContaining(["delete failed-start-0 FailedStart", "note FailedStart"]),
    );
    expect(planned(full("stopped"))).toContain("delete stopped-0 Ended");
  });
});

describe("rule 2: a browser that nobody may get any more", () => {
  test.each<[PodKind, string]>([
    ["retired", "delete retired-0 Retired"],
    ["unreachable", "delete unreachable-0 Unreachable"],
    ["late", "delete late-0 StartDeadlineExceeded"],
    ["unready idle", "retire 1 of unready-idle-0 Unready"],
  ])("%s: it goes", (kind, action) => {
    expect(planned(full(kind))).toContain(action);
  });

  test("a browser that is lost with its node goes too, and people are told once for each node", () => {
    expect(planned(full("silent leased", "silent leased"))).toEqual([
      "close silent-leased-0 browser_lost",
      "close silent-leased-1 browser_lost",
      "delete silent-leased-0 NodeLost",
      "delete silent-leased-1 NodeLost",
      "note NodeLost",
    ]);
  });

  test("one on a silent node whose agent answers, or on a well node whose agent does not, stays with its holder", () => {
    const answering = aPod("a", { ...podKinds["silent leased"], inspection: {} });
    const { node: _, ...stuck } = podKinds["silent leased"];
    expect(planned({ pool: aPool({ size: 2 }), pods: [answering, aPod("b", stuck)] })).toEqual([]);
  });

  test("a browser in use that does not answer its probe stays with its holder", () => {
    expect(planned(full("unready leased"))).toEqual([]);
  });

  test("a start has until the deadline", () => {
    const starting = aPod("a", { ...podKinds.starting, ageMs: startDeadlineMs });
    expect(planned({ pods: [starting] })).toEqual([]);
  });

  test("a start has its time from when it got its node, and is no failed one as long as it has none", () => {
    const ageMs = 10 * startDeadlineMs;
    const placed = (inMs: number) =>
      aPod("a", { state: { is: "starting" }, ageMs, scheduled: { status: "True", inMs } });
    expect(planned(full("waiting for a node"))).toEqual([]);
    expect(planned({ pods: [placed(-startDeadlineMs)] })).toEqual([]);
    expect(planned({ pods: [placed(-startDeadlineMs - 1)] })).toContain("delete a StartDeadlineExceeded");
  });

  test("people are told of an unreachable one, a failed and a late start", () => {
    expect(planned(full("unreachable", "failed start", "late")).filter((action) => action.startsWith("note"))).toEqual([
      "note Unreachable",
      "note FailedStart",
      "note StartDeadlineExceeded",
    ]);
  });
});

describe("rule 3: a warm pod", () => {
  test("is inspected, and nothing else is done to it, since it may be in use", () => {
    const looked = (observed: ObservedOptions): string[] => planPool(anObserved(observed), nowMs).actions.map(line);
    expect(looked(full("warm"))).toEqual(["inspect warm-0 Warm in 0"]);
    expect(looked({ pods: podsOf("warm", "idle") })).toEqual(["inspect warm-0 Warm in 0"]);
    const pool = aPool({}, {}, { deletionTimestamp: at(nowMs) });
    expect(looked({ pool, pods: podsOf("warm"), leases: { draining: true } })).toEqual(["inspect warm-0 Warm in 0"]);
  });

  test("whose agent does not answer does not end the back-off of failed starts", () => {
    const pool = aPool({ size: 2 }, { failedStarts: 3, nextStartTime: at(nowMs - 1) });
    expect(planPool(anObserved({ pool, pods: podsOf("unreachable") }), nowMs).status.failedStarts).toBe(3);
  });
});

describe("rule 4: a discard token", () => {
  const pool = (discardedToken?: string) => aPool({ discardIdle: "t" }, discardedToken ? { discardedToken } : {});

  test("that is new retires what is idle, and is remembered", () => {
    const { actions, status } = planPool(anObserved({ pool: pool(), pods: podsOf("idle") }), nowMs);
    expect(actions.map(line)).toEqual(["discard t"]);
    expect(status.discardedToken).toBe("t");
  });

  test("that was handled does nothing", () => {
    expect(planned({ pool: pool("t"), pods: podsOf("idle") })).toEqual([]);
  });

  // LEASE-63
  test.each([
    ["reset", true, ["discardKept"]],
    ["keep", true, []],
    ["reset", false, []],
  ] as const)("under %s, idle browsers that were kept (%s) go", (reusePolicy, kept, actions) => {
    const observed = anObserved({ pool: aPool({ reusePolicy }), pods: podsOf("idle") });
    for (const browser of observed.leases.browsers) browser.kept = kept;
    expect(planPool(observed, nowMs).actions.map(line)).toEqual(actions);
  });

  // FILL-RATE-5
  test("what was discarded is rebuilt at once, not at the fill rate", () => {
    const pool = aPool({ size: 3, fillRatePerMinute: 1 }, { nextStartTime: at(nowMs + 60_000) });
    expect(planned({ pool, pods: podsOf("leased"), leases: { unpaced: 2 } })).toEqual(["create 2 unpaced"]);
  });

  test("very many are rebuilt in batches, one soon after another", () => {
    const many = { pool: aPool({ size: 500, fillRatePerMinute: 1 }), leases: { unpaced: 300 } };
    expect(planned(many)).toEqual(["create 32 unpaced"]);
    expect(planPool(anObserved(many), nowMs).requeueAfterMs).toBeLessThanOrEqual(250);
  });

  test("what is still ending holds its place until it is gone", () => {
    expect(planned({ pods: podsOf("terminating retired"), leases: { unpaced: 1 } })).toEqual([]);
  });
});

describe("rule 5: more than size alive", () => {
  test("starting ones go first, then warm ones when they have entered, then outdated idle ones, then idle ones", () => {
    const kinds = podsOf("idle", "outdated", "warm", "starting", "leased");
    const shrunkTo = (size: number): string[] => planned({ pool: aPool({ size }), pods: kinds });
    expect(shrunkTo(4)).toEqual(["delete starting-3 Surplus"]);
    expect(shrunkTo(3)).toEqual(["delete starting-3 Surplus"]);
    expect(shrunkTo(2)).toContain("retire 1 of outdated-1,idle-0 Surplus");
    expect(shrunkTo(1)).toContain("retire 2 of outdated-1,idle-0 Surplus");
  });

  test("of idle ones the longest idle goes first", () => {
    const idle = [aPod("new", { ...podKinds.idle, ageMs: 10 }), aPod("old", { ...podKinds.idle, ageMs: 9000 })];
    expect(planned({ pods: idle })).toEqual(["retire 1 of old,new Surplus"]);
  });

  test("a pool that is short of browsers loses none", () => {
    const pool = aPool({ size: 3, fillRatePerMinute: 0 });
    expect(planned({ pool, pods: podsOf("idle", "starting") })).toEqual([]);
  });

  // POOL-12
  test("never one in use", () => {
    expect(planned({ pods: podsOf("leased", "releasing", "unready leased") })).toEqual([]);
  });

  test("one that is idle by its record is never deleted without Redis' word", () => {
    expect(planned({ pods: podsOf("leased", "unready idle") })).toEqual(["retire 1 of unready-idle-1 Unready"]);
  });
});

describe("rule 6: fewer than size alive", () => {
  // FILL-RATE-1, FILL-RATE-2
  test("the first start is at once, one a round, and the next one an interval later", () => {
    const { actions, status, requeueAfterMs } = planPool(
      anObserved({ pool: aPool({ size: 4, fillRatePerMinute: 100 }) }),
      nowMs,
    );
    expect(actions.map(line)).toEqual(["create 1 paced"]);
    expect(status.nextStartTime).toBe(at(nowMs + 15_000));
    expect(requeueAfterMs).toBe(15_000);
  });

  test("nothing is started before the next start is due, and then it is inspected again", () => {
    const pool = aPool({ size: 4, fillRatePerMinute: 100 }, { nextStartTime: at(nowMs + 4000) });
    const { actions, status, requeueAfterMs } = planPool(anObserved({ pool }), nowMs);
    expect(actions).toEqual([]);
    expect(status.nextStartTime).toBe(at(nowMs + 4000));
    expect(requeueAfterMs).toBe(4000);
  });

  // FILL-RATE-3
  test("a rate of 0 pauses filling", () => {
    expect(planned({ pool: aPool({ size: 3, fillRatePerMinute: 0 }) })).toEqual([]);
  });

  test("a rate that is all but 0 is a pause too", () => {
    const { actions, status } = planPool(anObserved({ pool: aPool({ size: 1, fillRatePerMinute: 1e-12 }) }), nowMs);
    expect(actions.map(line)).toEqual(["create 1 paced"]);
    expect(Date.parse(status.nextStartTime ?? "")).toBeGreaterThan(nowMs);
  });

  // FILL-RATE-7
  test("a rate that was raised counts from now on", () => {
    const pool = aPool({ size: 1, fillRatePerMinute: 600 }, { nextStartTime: at(nowMs + 3_600_000) });
    const { actions, status } = planPool(anObserved({ pool }), nowMs);
    expect(actions).toEqual([]);
    expect(status.nextStartTime).toBe(at(nowMs + 10_000));
  });

  test("creations that the watch has not shown yet count", () => {
    expect(planned({ pool: aPool({ size: 2 }), pods: podsOf("idle"), pendingCreations: 1 })).toEqual([]);
  });

  // POOL-11
  test("a browser in use holds its place", () => {
    expect(planned(full("leased", "leased"))).toEqual([]);
  });

  test("a pod that is being deleted holds its place until it is surely gone", () => {
    expect(planned(full("terminating"))).toEqual([]);
    expect(planned(full("terminating unseen"))).toEqual([]);
    expect(planned(full("lost with its node"))).toEqual(["create 1 paced"]);
  });

  // FILL-RATE-8
  test("failed starts back off, doubling, and the time of the next one is kept", () => {
    const pool = aPool({ fillRatePerMinute: 6000 }, { failedStarts: 3 });
    const pods = [aPod("new", { ...podKinds["failed start"], failedStarts: 3 })];
    const { actions, status } = planPool(anObserved({ pool, pods }), nowMs);
    expect(actions.map(line)).toEqual(["note FailedStart", "delete new FailedStart"]);
    expect(status.failedStarts).toBe(4);
    expect(status.nextStartTime).toBe(at(nowMs + 8000));
  });

  test("starts that were under way together and fail, at once or one after the other, back off once", () => {
    const spec = { size: 9, fillRatePerMinute: 6000 };
    const together = planPool(anObserved({ pool: aPool(spec), pods: podsOf("failed start", "failed start") }), nowMs);
    expect(together.status).toMatchObject({ failedStarts: 1, nextStartTime: at(nowMs + 1000) });
    const later = anObserved({ pool: aPool(spec, together.status), pods: podsOf("failed start") });
    expect(planPool(later, nowMs + 500).status).toMatchObject({ failedStarts: 1, nextStartTime: at(nowMs + 1000) });
  });

  test("while starts fail, they are tried one by one", () => {
    const pool = aPool({ size: 9, fillRatePerMinute: 6000 }, { failedStarts: 3, nextStartTime: at(nowMs - 1) });
    const { actions, status } = planPool(anObserved({ pool }), nowMs);
    expect(actions.map(line)).toEqual(["create 1 paced"]);
    expect(status.nextStartTime).toBe(at(nowMs + 4000));
  });

  test("a browser that came up ends the back-off", () => {
    const pool = aPool({ size: 2 }, { failedStarts: 3, nextStartTime: at(nowMs - 1) });
    expect(planPool(anObserved({ pool, pods: podsOf("warm") }), nowMs).status.failedStarts).toBe(0);
  });

  test("unpaced starts that a full pool does not need are forfeited", () => {
    expect(planned({ ...full("idle"), leases: { unpaced: 2 } })).toEqual(["forfeit 2"]);
  });
});

describe("a pool whose spec is refused", () => {
  const refusal: Refusal = { reason: "PooledSessionsLimit", message: "too many" };

  test("keeps what it has and starts nothing", () => {
    const pool = aPool({ size: 9 }, { acceptedSize: 3 });
    expect(planned({ pool, refusal, pods: podsOf("idle") })).toEqual([]);
    expect(planned({ pool: aPool({ size: 1 }), refusal, pods: podsOf("idle", "idle") })).toEqual([]);
  });

  // POOL-24
  test("keeps its last accepted size", () => {
    const { status } = planPool(anObserved({ pool: aPool({ size: 9 }, { acceptedSize: 3 }), refusal }), nowMs);
    expect(status.acceptedSize).toBe(3);
  });
});

describe("a pool that is being deleted", () => {
  const deleted = (force = false) =>
    aPool(
      { size: 3 },
      {},
      {
        deletionTimestamp: at(nowMs),
        finalizers: ["browserpool.dev/drain"],
        ...(force && { annotations: { "browserpool.dev/force-delete": "true" } }),
      },
    );

  // POOL-15
  test("gives no new leases and lets go of what is idle; what is in use stays", () => {
    expect(planned({ pool: deleted(), pods: podsOf("idle", "leased", "starting") })).toEqual([
      "drain",
      "retire 1 of idle-0 PoolDeleted",
      "delete starting-2 PoolDeleted",
    ]);
  });

  test("ends leases at once when it is forced", () => {
    const observed = { pool: deleted(true), pods: podsOf("leased"), leases: { draining: true } };
    expect(planned(observed)).toEqual(["close leased-0 pool_deleted", "delete leased-0 PoolDeleted"]);
  });

  test("gets rid of a leased browser that crashed within the same round", () => {
    const observed = { pool: deleted(), pods: podsOf("crashed leased"), leases: { draining: true } };
    expect(planned(observed)).toEqual([
      "close crashed-leased-0 browser_crashed",
      "delete crashed-leased-0 PoolDeleted",
    ]);
  });

  test("is forgotten when its last pod is gone, not before", () => {
    const leases = { draining: true };
    expect(planned({ pool: deleted(), leases })).toEqual(["drop"]);
    expect(planned({ pool: deleted(), leases, pods: podsOf("terminating") })).toEqual([]);
    expect(planned({ pool: deleted(), leases, pendingCreations: 1 })).toEqual([]);
    expect(planned({ pool: deleted(), leases, pods: podsOf("crashed idle") })).not.toContain("drop");
    expect(planned({ pool: deleted(), leases, pods: podsOf("lost with its node") })).toEqual(["drop"]);
  });
});

test("a drain for a deletion that did not come about is taken back", () => {
  expect(planned({ ...full("idle"), leases: { draining: true } })).toEqual(["undrain"]);
});

test("a full and quiet pool needs nothing but a look now and then", () => {
  const { actions, requeueAfterMs } = planPool(anObserved(full("idle", "starting")), nowMs);
  expect(actions).toEqual([]);
  expect(requeueAfterMs).toBe(30_000);
});

test("in a namespace that is not ready nothing starts, and what may start at once then is kept for it", () => {
  const pool = aPool({ size: 3 });
  const observed: ObservedOptions = { pool, pods: podsOf("idle", "failed start"), leases: { unpaced: 1 } };
  expect(planned(observed)).toEqual(expect.arrayContaining(["create 1 unpaced"]));
  expect(planned({ ...observed, waitsFor: "a policy" })).toEqual([
    "note FailedStart",
    "delete failed-start-1 FailedStart",
  ]);
});
