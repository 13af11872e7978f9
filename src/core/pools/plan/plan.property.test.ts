/** What holds for every round, whatever it meets: any mix of pods, records, pacing state and requests. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  anObserved,
  aPool,
  aRecord,
  aScaling,
  nowMs,
  type PodKind,
  podKinds,
  podsOf,
} from "../../../../test/support/observed-pool.ts";
import type { BrowserRecord } from "../../leases/records.ts";
import { Autoscale } from "../../model/pools/autoscale.ts";
import { startIntervalMs } from "../../model/pools/fill-pacing.ts";
import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { PoolAction } from "./actions.ts";
import { planPool } from "./plan.ts";

const at = (ms: number): string => new Date(ms).toISOString();

const anyObserved: fc.Arbitrary<Observed> = fc
  .record({
    kinds: fc.array(fc.constantFrom(...(Object.keys(podKinds) as PodKind[])), { maxLength: 9 }),
    size: fc.integer({ min: 1, max: 6 }),
    /** The size that autoscale gives the pool, if it has it. */
    scaledTo: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
    fillRatePerMinute: fc.constantFrom(0, 25, 100, 6000),
    pendingCreations: fc.integer({ min: 0, max: 2 }),
    nextStartInMs: fc.option(fc.integer({ min: -5000, max: 600_000 }), { nil: undefined }),
    failedStarts: fc.integer({ min: 0, max: 9 }),
    request: fc.constantFrom("none", "refused", "deleted", "forced"),
    discardIdle: fc.constantFrom(undefined, "new", "known"),
    orphans: fc.array(fc.constantFrom<BrowserRecord["state"]>("idle", "leased", "releasing", "retired"), {
      maxLength: 2,
    }),
    unpaced: fc.integer({ min: 0, max: 4 }),
    draining: fc.boolean(),
    noted: fc.constantFrom(1, 1, 1, undefined, 2),
    recoveringSinceMs: fc.constantFrom(undefined, undefined, nowMs - 1000, nowMs - 20_000),
  })
  .map(
    ({
      kinds,
      size,
      scaledTo,
      fillRatePerMinute,
      nextStartInMs,
      failedStarts,
      request,
      discardIdle,
      orphans,
      ...rest
    }) => {
      const isDeleted = request === "deleted" || request === "forced";
      const metadata = {
        ...(isDeleted && { deletionTimestamp: at(nowMs) }),
        ...(request === "forced" && { annotations: { "browserpool.dev/force-delete": "true" } }),
      };
      const status = {
        failedStarts,
        acceptedSize: size,
        discardedToken: "known",
        leaseEpoch: rest.noted,
        ...(nextStartInMs !== undefined && { nextStartTime: at(nowMs + nextStartInMs) }),
      };
      const isScaled = scaledTo !== undefined && request === "none";
      const sized = isScaled ? { autoscale: Autoscale.parse({ min: 0, max: 6 }) } : { size };
      return anObserved({
        scaling: isScaled ? aScaling({ size: scaledTo, fillBase: 6 }) : undefined,
        pool: aPool({ ...sized, fillRatePerMinute, ...(discardIdle && { discardIdle }) }, status, metadata),
        pods: podsOf(...kinds),
        pendingCreations: rest.pendingCreations,
        refusal: request === "refused" ? { reason: "InvalidSpec", message: "no" } : undefined,
        leases: {
          browsers: orphans.map((state, place) => aRecord(`orphan-${place}`, state)),
          unpaced: rest.unpaced,
          draining: rest.draining,
          recoveringSinceMs: rest.recoveringSinceMs,
        },
      });
    },
  );

/** The size of the pool, and that of its fill rate. */
const sizeOf = ({ pool, scaling }: Observed): number => scaling?.size ?? pool.spec.size ?? 0;
const fillOf = ({ pool, scaling }: Observed) => ({
  size: scaling?.fillBase ?? pool.spec.size ?? 0,
  fillRatePerMinute: pool.spec.fillRatePerMinute,
});

const mayRun = ({ state, pod }: ObservedPod): boolean => {
  if (state.is === "ended") return false;
  const { deletionTimestamp } = pod.metadata;
  return !deletionTimestamp || Date.parse(deletionTimestamp) > nowMs - 30_000;
};
const isForced = ({ pool }: Observed): boolean => pool.metadata.annotations !== undefined;
const of = <Kind extends PoolAction["do"]>(actions: PoolAction[], kind: Kind) =>
  actions.filter((action): action is Extract<PoolAction, { do: Kind }> => action.do === kind);
const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);

// POOL-11
test("never more processes than size: what may run, what was asked for and what is created", () => {
  fc.assert(
    fc.property(anyObserved, (observed) => {
      const created = sum(of(planPool(observed, nowMs).actions, "create").map(({ count }) => count));
      if (created === 0) return;
      expect(observed.pods.filter(mayRun).length + observed.pendingCreations + created).toBeLessThanOrEqual(
        sizeOf(observed),
      );
      expect(observed.refusal ?? observed.pool.metadata.deletionTimestamp).toBeUndefined();
    }),
  );
});

test("a browser in use is never deleted, retired or closed while it can be reached, unless the deletion is forced", () => {
  fc.assert(
    fc.property(anyObserved, (observed) => {
      const { actions } = planPool(observed, nowMs);
      const touched = new Set([
        ...of(actions, "delete").map(({ pod }) => pod.uid),
        ...of(actions, "retire").flatMap(({ ids }) => ids),
        ...of(actions, "close").map(({ browser }) => browser),
      ]);
      const inUse = observed.pods.filter(
        (pod) =>
          (pod.browser?.state === "leased" || pod.browser?.state === "releasing") &&
          (pod.state.is === "known" || pod.state.is === "unready" || pod.state.is === "evicted") &&
          mayRun(pod) &&
          !(pod.node?.isLost && pod.inspection?.failures),
      );
      if (!isForced(observed)) expect(inUse.filter(({ uid }) => touched.has(uid))).toEqual([]);
    }),
  );
});

test("what is idle by its record goes by Redis' word only, unless its process has ended or the deletion is forced", () => {
  fc.assert(
    fc.property(anyObserved, (observed) => {
      const idle = of(planPool(observed, nowMs).actions, "delete").filter(
        ({ pod }) => pod.browser?.state === "idle" && pod.state.is !== "ended",
      );
      if (!isForced(observed)) expect(idle).toEqual([]);
    }),
  );
});

// FILL-RATE-1
test("at most one paced start a round, never before it is due, and the next one is reserved an interval later", () => {
  fc.assert(
    fc.property(anyObserved, (observed) => {
      const { actions, status } = planPool(observed, nowMs);
      const creates = of(actions, "create");
      const paced = creates.filter((action) => action.paced);
      expect(sum(creates.filter((action) => !action.paced).map(({ count }) => count))).toBeLessThanOrEqual(
        observed.leases.unpaced,
      );
      if (paced.length === 0) return;
      const intervalMs = startIntervalMs(fillOf(observed));
      expect(paced.map(({ count }) => count)).toEqual([1]);
      expect(Date.parse(observed.pool.status?.nextStartTime ?? at(0))).toBeLessThanOrEqual(nowMs);
      expect(Date.parse(status.nextStartTime ?? at(0))).toBeGreaterThanOrEqual(nowMs + intervalMs);
    }),
  );
});

test("a round is a pure function: it changes nothing that it sees and comes to the same end again", () => {
  fc.assert(
    fc.property(anyObserved, (observed) => {
      const before = structuredClone(observed);
      const plan = planPool(observed, nowMs);
      expect(observed).toEqual(before);
      expect(planPool(before, nowMs)).toEqual(plan);
      expect(plan.requeueAfterMs).toBeGreaterThan(0);
      expect(plan.requeueAfterMs).toBeLessThanOrEqual(30_000);
    }),
  );
});

test("while Redis and the status disagree about the epoch, nothing is done but to raise it above both", () => {
  fc.assert(
    fc.property(anyObserved, (observed) => {
      const { actions, status } = planPool(observed, nowMs);
      const noted = observed.pool.status?.leaseEpoch ?? 0;
      if (noted === observed.leases.epoch) {
        expect(of(actions, "raise")).toEqual([]);
        return;
      }
      expect(actions).toEqual([{ do: "raise", epoch: Math.max(noted, observed.leases.epoch) + 1 }]);
      expect(status).toEqual({ ...observed.pool.status, leaseEpoch: Math.max(noted, observed.leases.epoch) + 1 });
    }),
  );
});

test("a warm pod, which may be in use, is never touched before it is known, unless it can't be asked or the deletion is forced", () => {
  fc.assert(
    fc.property(anyObserved, (observed) => {
      const deleted = of(planPool(observed, nowMs).actions, "delete").filter(({ pod }) => pod.state.is === "warm");
      if (!isForced(observed))
        expect(deleted.filter(({ why, pod }) => !pod.inspection?.failures || why === "Surplus")).toEqual([]);
    }),
  );
});

test("what is idle where it has to leave is retired at once, who is in use is told of once, and nobody starts there", () => {
  fc.assert(
    fc.property(anyObserved, (observed) => {
      const { actions } = planPool(observed, nowMs);
      // A roll marks one that could stay: it is outdated, and nothing makes it leave.
      const rolled = of(actions, "leave").flatMap(({ ids, why }) => (why === "PodOutdated" ? ids : []));
      const told = of(actions, "leave").flatMap(({ ids, why }) => (why === "PodOutdated" ? [] : ids));
      const leaves = observed.pods.filter(({ state, node }) => state.is === "evicted" || node?.leaving);
      const isRaised = observed.pool.status?.leaseEpoch !== observed.leases.epoch;
      const untold = leaves.filter(
        ({ browser, state }) => browser && browser.state !== "retired" && !browser.leaving && state.is !== "ended",
      );
      if (!isRaised) expect(new Set(told)).toEqual(new Set(untold.map(({ uid }) => uid)));
      const stays = observed.pods.filter((pod) => pod.isOutdated && !leaves.includes(pod));
      expect(stays.map(({ uid }) => uid)).toEqual(expect.arrayContaining(rolled));
      const started = leaves.filter(({ state }) => state.is === "starting").map(({ uid }) => uid);
      const deleted = of(actions, "delete").map(({ pod }) => pod.uid);
      if (!isRaised) expect(deleted).toEqual(expect.arrayContaining(started));
    }),
  );
});

test("a roll takes one browser at most, of a full pool with nothing missing or starting, when a start is due", () => {
  fc.assert(
    fc.property(anyObserved, (observed) => {
      const { actions, status } = planPool(observed, nowMs);
      const rolled = [
        ...of(actions, "retire").filter(({ why }) => why === "PodOutdated"),
        ...of(actions, "leave").filter(({ why }) => why === "PodOutdated"),
      ];
      if (rolled.length === 0) return;
      expect(rolled.map((action) => (action.do === "retire" ? action.count : action.ids.length))).toEqual([1]);
      expect(observed.pods.filter(mayRun)).toHaveLength(sizeOf(observed));
      expect(observed.pendingCreations).toBe(0);
      expect(observed.pods.filter(({ state }) => state.is === "starting" || state.is === "warm")).toEqual([]);
      expect(Date.parse(observed.pool.status?.nextStartTime ?? at(0))).toBeLessThanOrEqual(nowMs);
      expect(of(actions, "create")).toEqual([]);
      if (rolled[0]?.do === "leave")
        expect(Date.parse(status.nextStartTime ?? at(0))).toBeGreaterThanOrEqual(
          nowMs + startIntervalMs(fillOf(observed)),
        );
    }),
  );
});

type Leases = Pick<Observed["leases"], "epoch" | "unpaced" | "draining" | "recoveringSinceMs"> & {
  records: Map<string, BrowserRecord>;
};

const retire = ({ records }: Leases, ids: string[], count: number): number => {
  const idle = ids.filter((id) => records.get(id)?.state === "idle").slice(0, count);
  for (const id of idle) records.set(id, aRecord(id, "retired"));
  return idle.length;
};

/** What a look at a browser that holds no lease finds. */
const look = ({ records }: Leases, { pod, why, leaving }: Extract<PoolAction, { do: "inspect" }>): void => {
  const record = records.get(pod.uid);
  const isLeaving = leaving ?? record?.leaving;
  const isFound = why === "Lost" && (!record || record.state === "suspect");
  if (why === "Warm" || why === "Suspect" || isFound)
    records.set(pod.uid, aRecord(pod.uid, isLeaving ? "retired" : "idle"));
};

const leave = ({ records }: Leases, { ids, why }: Extract<PoolAction, { do: "leave" }>): void => {
  for (const id of ids) {
    const record = records.get(id);
    if (record) records.set(id, record.state === "idle" ? aRecord(id, "retired") : { ...record, leaving: why });
  }
};
const stay = ({ records }: Leases, { ids }: Extract<PoolAction, { do: "stay" }>): void => {
  for (const id of ids) {
    const { leaving: _, ...record } = records.get(id) ?? aRecord(id, "leased");
    records.set(id, record);
  }
};

/** What an action does to the leases. */
const carryOut = (action: PoolAction, leases: Leases): void => {
  const { records } = leases;
  if (action.do === "close") records.delete(action.browser);
  else if (action.do === "inspect") look(leases, action);
  else if (action.do === "raise") Object.assign(leases, { epoch: action.epoch, recoveringSinceMs: nowMs - 20_000 });
  else if (action.do === "recovered") leases.recoveringSinceMs = undefined;
  else if (action.do === "leave") leave(leases, action);
  else if (action.do === "stay") stay(leases, action);
  else if (action.do === "retire") retire(leases, action.ids, action.count);
  else if (action.do === "discard") leases.unpaced += retire(leases, [...records.keys()], records.size);
  else if (action.do === "forfeit") leases.unpaced -= action.count;
  else if (action.do === "create") leases.unpaced -= action.paced ? 0 : action.count;
  else if (action.do === "drain" || action.do === "undrain") leases.draining = action.do === "drain";
};

/** The world after a plan was carried out and the watch has shown it: deleted pods are gone, created ones start. */
const afterwards = (observed: Observed, { actions, status }: ReturnType<typeof planPool>, round: number): Observed => {
  const records = new Map(observed.leases.browsers.map((record) => [record.id, record]));
  const leases: Leases = { ...observed.leases, records };
  for (const action of actions) carryOut(action, leases);
  const deleted = new Set(of(actions, "delete").map(({ pod }) => pod.uid));
  const inspected = new Set(of(actions, "inspect").map(({ pod }) => pod.uid));
  const isOver = ({ uid, state }: ObservedPod): boolean =>
    state.is === "terminating" || (state.is === "evicted" && records.get(uid)?.state === "retired");
  const kept = observed.pods.filter((pod) => !deleted.has(pod.uid) && !isOver(pod));
  const created = Array.from({ length: sum(of(actions, "create").map(({ count }) => count)) }, (_, place) => ({
    ...(podsOf("starting")[0] as ObservedPod),
    uid: `created-${round}-${place}`,
  }));
  const marked = new Set(of(actions, "mark").map(({ pod }) => pod.uid));
  const unmarked = new Set(of(actions, "unmark").map(({ pod }) => pod.uid));
  const labelsOf = ({ uid, pod }: ObservedPod) => {
    if (marked.has(uid)) return { labels: { "browserpool.dev/leased": "true" } };
    return unmarked.has(uid) ? { labels: {} } : { labels: pod.metadata.labels ?? {} };
  };
  const { unpaced, draining, epoch, recoveringSinceMs } = leases;
  const found = { atMs: nowMs, epoch, failures: 0, failingSinceMs: 0 };
  return {
    ...observed,
    pool: { ...observed.pool, status },
    pendingCreations: 0,
    leases: { ...observed.leases, browsers: [...records.values()], unpaced, draining, epoch, recoveringSinceMs },
    pods: [...kept, ...created].map((pod) => ({
      ...pod,
      pod: { ...pod.pod, metadata: { ...pod.pod.metadata, ...labelsOf(pod) } },
      browser: records.get(pod.uid),
      inspection: inspected.has(pod.uid) ? found : pod.inspection,
      askedUnder: inspected.has(pod.uid) ? epoch : pod.askedUnder,
      state: pod.state.is === "warm" && inspected.has(pod.uid) ? { is: "known" as const } : pod.state,
    })),
  };
};

test("carried out again and again with nothing else happening, a plan comes to rest", () => {
  fc.assert(
    fc.property(anyObserved, (first) => {
      let observed = first;
      for (let round = 0; round < 8; round++) observed = afterwards(observed, planPool(observed, nowMs), round);
      const { actions, status } = planPool(observed, nowMs);
      expect(actions.filter(({ do: kind }) => kind !== "drop" && kind !== "inspect")).toEqual([]);
      expect(status).toEqual(observed.pool.status);
    }),
    { numRuns: 500 },
  );
});

// FILL-RATE-6
test("over any time, with rounds and crashes whenever they come, starts are an interval apart and the pool is full in the end", () => {
  const steps = fc.array(fc.record({ afterMs: fc.integer({ min: 1, max: 20_000 }), crash: fc.boolean() }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(25, 100, 900),
      steps,
      (size, fillRatePerMinute, times) => {
        let observed = anObserved({ pool: aPool({ size, fillRatePerMinute }) });
        let timeMs = nowMs;
        const startsMs: number[] = [];
        const round = (): void => {
          const plan = planPool(observed, timeMs);
          if (of(plan.actions, "create").length > 0) startsMs.push(timeMs);
          observed = afterwards(observed, plan, startsMs.length);
          const pods = observed.pods.map((pod) =>
            pod.state.is === "starting" ? { ...pod, state: podKinds.warm.state } : pod,
          );
          observed = { ...observed, pods: pods as ObservedPod[] };
        };
        for (const { afterMs, crash } of times) {
          timeMs += afterMs;
          if (crash) observed = { ...observed, pods: observed.pods.slice(1) };
          round();
        }
        const intervalMs = startIntervalMs({ size, fillRatePerMinute });
        for (const [place, startMs] of startsMs.slice(1).entries())
          expect(startMs - (startsMs[place] ?? 0)).toBeGreaterThanOrEqual(intervalMs);
        for (let place = 0; place <= size; place++) {
          timeMs += Math.ceil(intervalMs);
          round();
        }
        expect(observed.pods.length).toBe(size);
      },
    ),
  );
});
