import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentState, Fence } from "../protocol/agent-api.ts";
import type { AgentAnswer } from "./agent/agent-client.ts";
import {
  type Diagnosis,
  diagnose,
  diagnoseAfterEnd,
  type Elsewhere,
  type Facts,
  stepMs,
  stillStepMs,
} from "./diagnose.ts";
import type { BrowserRecord, LeaseRecord } from "./records.ts";

const nowMs = 1_900_000_000_000;
const long = stepMs;
const request = JSON.stringify({
  timeout_seconds: 600,
  max_session_seconds: 3600,
  pool: { id: "pool", uid: "uid" },
  project: "p",
  name: "n",
});
const place = { pod: "pod-b", address: "127.0.0.9:7510" };

type State = BrowserRecord["state"];

const aRecord = (
  state: State,
  seq: number,
  { ageMs = 0, ...more }: Partial<BrowserRecord> & { ageMs?: number } = {},
) => ({
  id: "b",
  ...place,
  config: "hash",
  seq,
  state,
  since: nowMs - ageMs,
  ...((state === "leased" || state === "releasing" || state === "suspect") && { session: `s${seq}` }),
  ...more,
});
const aLease = (seq: number, epoch = 1): LeaseRecord => ({
  session: `s${seq}`,
  browser: "b",
  ...place,
  config: "hash",
  epoch,
  seq,
  created_at: nowMs,
  ticket: "1",
  channel: "c",
  request,
});
const at = (epoch: number, seq: number): Fence => ({ epoch, seq });
/** An agent that holds nothing. */
const free = (fence: Fence, binding: string | null = null): AgentState => ({
  pod_uid: "b",
  fence,
  binding,
  resetting: false,
  lease: null,
});
const resetting = (fence: Fence): AgentState => ({ ...free(fence), resetting: true });
/** An agent that holds the lease of this seq. */
const holding = (
  seq: number,
  {
    epoch = 1,
    under = epoch,
    more = { request },
  }: { epoch?: number; under?: number; more?: { request?: string } } = {},
): AgentState => ({
  ...free(at(under, seq)),
  lease: {
    session_id: `s${seq}`,
    epoch,
    seq,
    connections: 1,
    bound_at: new Date(nowMs - 60_000).toISOString(),
    ...more,
  },
});

/** The same by another session than that of the record. */
const holdingAnother = (seq: number): AgentState => {
  const { lease, ...state } = holding(seq);
  return { ...state, lease: lease && { ...lease, session_id: "another" } };
};
const facts = (given: Partial<Facts>): Facts => ({
  poolUid: "uid",
  browser: { id: "b", ...place, configHash: "hash" },
  record: undefined,
  lease: given.record?.state === "leased" ? aLease(given.record.seq) : undefined,
  agentState: undefined,
  elsewhere: { is: "no" },
  nowMs,
  ...given,
});

/** A diagnosis as a short line. */
const line = (diagnosis: Diagnosis | undefined): string => {
  if (!diagnosis) return "diagnose anew";
  if (diagnosis.is === "end") {
    const { session, epoch, seq } = diagnosis.lease;
    return `end ${session} ${epoch}.${seq}${diagnosis.after ? `, then ${line(diagnosis.after)}` : ""}`;
  }
  if (diagnosis.is === "underWay") return `inspect again in ${diagnosis.afterMs}`;
  if (diagnosis.is !== "correct") return diagnosis.is;
  const { record, former, restored, displaced } = diagnosis.to;
  const lease = [
    restored && `restored ${restored.session}`,
    displaced && `displaced ${displaced}`,
    former !== "kept" && `former ${former}`,
  ].filter(Boolean);
  return [`${diagnosis.why}: ${record.state} ${record.seq}`, ...lease].join(", ");
};
const diagnosed = (given: Partial<Facts>): string => line(diagnose(facts(given)));

describe.each<[string, BrowserRecord | undefined, [string, Partial<Facts>, string][]]>([
  [
    "without a record",
    undefined,
    [
      ["holds nothing: is registered", { agentState: free(at(2, 5)) }, "Registered: idle 5"],
      ["holds a lease: it is restored", { agentState: holding(5, { under: 2 }) }, "Restored: leased 5, restored s5"],
      [
        "holds one that is over: it is ended",
        { agentState: holding(5, { under: 2 }), elsewhere: { is: "over" } },
        "end s5 1.5",
      ],
      [
        "holds one that another browser may have: waits",
        { agentState: holding(5), elsewhere: { is: "unsure" } },
        "inspect again in 1000",
      ],
      [
        "holds one that another agent bound before: it is restored in its place",
        { agentState: holding(5), elsewhere: { is: "before", browser: "c" } },
        "Restored: leased 5, restored s5, displaced c",
      ],
      ["holds one without a request: it is ended", { agentState: holding(5, { more: {} }) }, "end s5 1.5"],
      ["is being bound: waits", { agentState: free(at(2, 5), "s5") }, "inspect again in 2500"],
      ["does not answer", { agentState: undefined }, "silent"],
    ],
  ],
  [
    "that is idle",
    aRecord("idle", 5),
    [
      ["holds nothing", { agentState: free(at(1, 5)) }, "well"],
      ["has seen fewer leases: an earlier grant was dropped unused", { agentState: free(at(1, 4)) }, "well"],
      ["has seen more leases: Redis lost them", { agentState: free(at(1, 7)) }, "SeqRaised: idle 7"],
      ["holds a newer lease: Redis lost it", { agentState: holding(6) }, "Restored: leased 6, restored s6"],
      ["holds a newer one that is over", { agentState: holding(6), elsewhere: { is: "over" } }, "end s6 1.6"],
      [
        "holds an older one: Redis lost it, and granted its seq again without a bind",
        { agentState: holding(5) },
        "Restored: leased 5, restored s5",
      ],
      ["is being bound", { agentState: free(at(1, 6), "s6") }, "inspect again in 2500"],
      ["does not answer", {}, "silent"],
    ],
  ],
  [
    "that has been leased for a while",
    aRecord("leased", 5, { ageMs: long }),
    [
      ["holds the lease", { agentState: holding(5) }, "well"],
      ["holds the lease of an older epoch", { agentState: holding(5, { under: 3 }) }, "well"],
      ["holds nothing any more", { agentState: free(at(1, 5)) }, "EndLost: idle 5, former released"],
      ["holds nothing and has seen later leases", { agentState: free(at(1, 8)) }, "EndLost: idle 8, former released"],
      ["holds a newer lease", { agentState: holding(6) }, "Restored: leased 6, restored s6, former released"],
      ["has not seen it", { agentState: free(at(1, 4)) }, "end s5 1.5, then NeverBound: idle 5, former dropped"],
      [
        "was asked under a later epoch before it saw it",
        { agentState: free(at(3, 4)) },
        "end s5 3.5, then NeverBound: idle 5, former dropped",
      ],
      [
        "holds an older one: the grant was never bound",
        { agentState: holding(4) },
        "Restored: leased 5, restored s4, former dropped",
      ],
      [
        "holds another one of its seq: Redis lost it, and granted the seq again",
        { agentState: holdingAnother(5) },
        "Restored: leased 5, restored another, former dropped",
      ],
      [
        "holds an older one that is over",
        { agentState: holding(4, { under: 3 }), elsewhere: { is: "over" } },
        "end s5 3.5, then NeverBound: idle 5, former dropped",
      ],
      ["is binding it", { agentState: free(at(1, 5), "s5") }, "inspect again in 2500"],
      ["does not answer: its holder may still work with it", {}, "silent"],
    ],
  ],
  [
    "that has just been leased",
    aRecord("leased", 5, { ageMs: long - 1 }),
    [
      ["has not seen it", { agentState: free(at(1, 4)) }, "inspect again in 1"],
      ["has refused it", { agentState: free(at(1, 5)) }, "inspect again in 1"],
      ["holds an older one", { agentState: holding(4) }, "inspect again in 1"],
      ["holds another one of its seq, which Redis lost", { agentState: holdingAnother(5) }, "inspect again in 1"],
      ["holds a newer one", { agentState: holding(6) }, "Restored: leased 6, restored s6, former released"],
    ],
  ],
  [
    "that has been releasing for a while",
    aRecord("releasing", 5, { ageMs: long }),
    [
      ["has ended it", { agentState: free(at(1, 5)) }, "OfferLost: idle 5"],
      ["still holds it", { agentState: holding(5) }, "end s5 1.5"],
      ["has never seen it", { agentState: free(at(2, 4)) }, "end s5 2.5, then OfferLost: idle 5"],
      ["holds a newer one", { agentState: holding(6) }, "Restored: leased 6, restored s6"],
      ["does not answer", {}, "Suspected: suspect 5"],
    ],
  ],
  [
    "that has just begun to release",
    aRecord("releasing", 5),
    [
      ["still holds it", { agentState: holding(5) }, `inspect again in ${stepMs}`],
      ["has ended it", { agentState: free(at(1, 5)) }, `inspect again in ${stepMs}`],
      ["does not answer", {}, "silent"],
    ],
  ],
  [
    "that is suspect",
    aRecord("suspect", 5, { reason: "stale_fence" }),
    [
      ["holds nothing", { agentState: free(at(1, 9)) }, "Cleared: idle 9"],
      ["has never seen the rejected lease", { agentState: free(at(2, 4)) }, "end s5 2.5, then Cleared: idle 5"],
      ["holds an older lease", { agentState: holding(4) }, "Restored: leased 5, restored s4"],
      ["holds the rejected or released lease", { agentState: holding(5) }, "end s5 1.5"],
      ["holds a newer lease", { agentState: holding(9) }, "Restored: leased 9, restored s9"],
      ["is being bound", { agentState: free(at(1, 5), "s5") }, "inspect again in 2500"],
      ["does not answer", {}, "Retired: retired 5"],
    ],
  ],
  [
    "that is suspect because its agent named another lease",
    aRecord("suspect", 5, { reason: "agent_mismatch" }),
    [["is not asked", { agentState: free(at(1, 5)) }, "Retired: retired 5"]],
  ],
  [
    "that is suspect because its browser is not healthy",
    aRecord("suspect", 5, { reason: "browser_unhealthy" }),
    [["is not asked", { agentState: free(at(1, 5)) }, "Retired: retired 5"]],
  ],
  [
    "whose lease has ended",
    aRecord("releasing", 5, { ageMs: long }),
    [["is being reset", { agentState: resetting(at(1, 5)) }, "inspect again in 1000"]],
  ],
  [
    "that was refused during a reset",
    aRecord("suspect", 5, { reason: "resetting" }),
    [
      ["is still resetting it", { agentState: resetting(at(1, 5)) }, "inspect again in 1000"],
      ["has reset it", { agentState: free(at(1, 5)) }, "Cleared: idle 5"],
    ],
  ],
  ["that is retired", aRecord("retired", 5), [["answers anything", { agentState: holding(9) }, "well"]]],
])("a browser %s", (_, record, cases) => {
  test.each(cases)("whose agent %s", (__, given, expected) => {
    expect(diagnosed({ record, ...given })).toBe(expected);
  });
});

// LEASE-54
test("the grant of a replica that stands still is taken back sooner, a bound one never", () => {
  const given = { record: aRecord("leased", 5, { ageMs: stillStepMs }), agentState: free(at(1, 4)) };
  expect(diagnosed(given)).toBe(`inspect again in ${stepMs - stillStepMs}`);
  expect(diagnosed({ ...given, isReplicaStill: true })).toBe("end s5 1.5, then NeverBound: idle 5, former dropped");
  expect(diagnosed({ ...given, isReplicaStill: true, agentState: holding(5) })).toBe("well");
  const early = { ...given, record: aRecord("leased", 5, { ageMs: stillStepMs - 1 }), isReplicaStill: true };
  expect(diagnosed(early)).toBe("inspect again in 1");
  const releasing = aRecord("releasing", 5, { ageMs: stillStepMs });
  expect(diagnosed({ ...given, record: releasing, isReplicaStill: true })).toBe(
    `inspect again in ${stepMs - stillStepMs}`,
  );
});

test.each([
  ["timeout", "timeout"],
  ["max_lifetime", "max_lifetime"],
  ["stopped", "pod_deleted"],
] as const)(
  "a browser that ended by %s, whose profile is to be saved, is retired and its lease ends so",
  (ended, why) => {
    const agentState: AgentState = { ...free(at(1, 3)), ended };
    const record = aRecord("leased", 3, { ageMs: long });
    expect(diagnose(facts({ record, lease: aLease(3), agentState }))).toMatchObject({
      is: "correct",
      why: "Ended",
      to: { record: { state: "retired", reason: ended }, former: why },
    });
  },
);

// LEASE-63
test.each(["suspect", "releasing", undefined] as const)(
  "a kept browser whose record was %s becomes idle as a kept one, by its agent's word",
  (state) => {
    const record = state && aRecord(state, 3, { ageMs: long, kept: false });
    const agentState: AgentState = { ...free(at(1, 3)), kept: true };
    expect(diagnose(facts({ record, agentState }))).toMatchObject({ to: { record: { state: "idle", kept: true } } });
    expect(diagnose(facts({ record, agentState: free(at(1, 3)) }))).not.toHaveProperty("to.record.kept");
  },
);

test("a restored lease is as it was bound", () => {
  const diagnosis = diagnose(facts({ agentState: holding(5, { epoch: 1, under: 4 }) }));
  expect(diagnosis).toMatchObject({
    to: {
      record: { id: "b", ...place, config: "hash", state: "leased", session: "s5", seq: 5 },
      restored: { session: "s5", browser: "b", ...place, epoch: 1, seq: 5, created_at: nowMs - 60_000, request },
    },
  });
});

describe("after an end at the agent", () => {
  const ends = (given: Partial<Facts>, answer: AgentAnswer): string => {
    const all = facts(given);
    const diagnosis = diagnose(all);
    if (diagnosis.is !== "end") throw new Error(`no end: ${diagnosis.is}`);
    return line(diagnoseAfterEnd(all, diagnosis, answer));
  };
  const ok: AgentAnswer = { kind: "ok", state: free(at(1, 5)) };
  const refused = (code: string): AgentAnswer => ({ kind: "refused", code });
  const silent: AgentAnswer = { kind: "unreachable", reason: "timeout" };
  const neverBound = { record: aRecord("leased", 5, { ageMs: long }), agentState: free(at(1, 4)) };
  const stuck = { record: aRecord("releasing", 5, { ageMs: long }), agentState: holding(5) };

  test.each<[string, Partial<Facts>, AgentAnswer, string]>([
    ["a grant that was never bound is taken back", neverBound, ok, "NeverBound: idle 5, former dropped"],
    [
      "a grant that was never bound is taken back, and its browser is suspect while it is reset",
      neverBound,
      { kind: "ok", state: resetting(at(1, 5)) },
      "Suspected: suspect 5, former dropped",
    ],
    [
      "a lease that is over is diagnosed anew during the reset",
      stuck,
      { kind: "ok", state: resetting(at(1, 5)) },
      "diagnose anew",
    ],
    ["one that was bound at last is diagnosed anew", neverBound, refused("not_holder"), "diagnose anew"],
    [
      "its browser is suspect when it is not healthy",
      neverBound,
      refused("browser_unhealthy"),
      "Suspected: suspect 5, former dropped",
    ],
    ["nothing is known without an answer", neverBound, silent, "silent"],
    ["a release that got stuck is diagnosed anew", stuck, ok, "diagnose anew"],
    ["without an answer its browser is suspect", stuck, silent, "Suspected: suspect 5"],
    [
      "a browser that has no record can't be suspect",
      { agentState: holding(5), elsewhere: { is: "over" } },
      refused("browser_unhealthy"),
      "diagnose anew",
    ],
  ])("%s", (_, given, answer, expected) => {
    expect(ends(given, answer)).toBe(expected);
  });
});

const anyFacts: fc.Arbitrary<Facts> = fc
  .record({
    state: fc.constantFrom<State | "none">("none", "idle", "leased", "releasing", "suspect", "retired"),
    seq: fc.integer({ min: 0, max: 4 }),
    ageMs: fc.constantFrom(0, long),
    fence: fc.record({ epoch: fc.integer({ min: 1, max: 3 }), seq: fc.integer({ min: 0, max: 4 }) }),
    holds: fc.constantFrom("free", "holding", "binding", "none"),
    elsewhere: fc.constantFrom<Elsewhere>(
      { is: "no" },
      { is: "over" },
      { is: "unsure" },
      { is: "before", browser: "c" },
    ),
  })
  .map(({ state, seq, ageMs, fence, holds, elsewhere }) => {
    const states = {
      none: undefined,
      free: free(fence),
      binding: free(fence, `s${fence.seq}`),
      holding: holding(fence.seq, { epoch: 1, under: fence.epoch }),
    };
    const record = state === "none" ? undefined : aRecord(state, seq, { ageMs });
    return facts({ record, agentState: states[holds as keyof typeof states], elsewhere });
  });

test("whatever is seen: a browser becomes idle only when its agent holds nothing, and its seq never falls", () => {
  fc.assert(
    fc.property(anyFacts, (given) => {
      const diagnosis = diagnose(given);
      if (diagnosis.is !== "correct") return;
      const { record, restored } = diagnosis.to;
      expect(record.seq).toBeGreaterThanOrEqual(given.record?.seq ?? 0);
      if (record.state === "idle") {
        expect(given.agentState).toMatchObject({ lease: null, binding: null });
        expect(record.seq).toBeGreaterThanOrEqual(given.agentState?.fence.seq ?? 0);
      }
      if (restored) expect(given.agentState?.lease).toMatchObject({ session_id: restored.session, seq: restored.seq });
      if (record.state === "leased") expect(restored?.session).toBe(record.session);
    }),
  );
});

test("whatever is seen: a leaving mark stays; without a record the pod says whether there is one", () => {
  fc.assert(
    fc.property(anyFacts, fc.constantFrom(undefined, "NodeLeaving"), (given, leaving) => {
      const mark = leaving ? { leaving } : {};
      const browser = given.record ? given.browser : { ...given.browser, ...mark };
      const record = given.record && { ...given.record, ...mark };
      const diagnosis = diagnose({ ...given, browser, record });
      if (diagnosis.is === "correct") expect(diagnosis.to.record.leaving).toBe(leaving);
    }),
  );
});

test("whatever is seen: no lease that a caller may hold is ended", () => {
  fc.assert(
    fc.property(anyFacts, (given) => {
      const diagnosis = diagnose(given);
      const held = given.agentState?.lease;
      const isCurrent = held && given.lease?.session === held.session_id && given.lease.seq === held.seq;
      const isUnknown = held && given.elsewhere.is !== "over" && held.session_id !== given.record?.session;
      if (!isCurrent && !isUnknown) return;
      expect(diagnosis.is).not.toBe("end");
      if (diagnosis.is === "correct") expect(diagnosis.why).toBe("Restored");
    }),
  );
});

/** The world after a diagnosis was carried out. */
const afterwards = (given: Facts, diagnosis: Diagnosis): Facts => {
  if (diagnosis.is === "correct") {
    const { record, restored, former } = diagnosis.to;
    return {
      ...given,
      record: { ...record, since: given.nowMs },
      lease: restored ?? (former === "kept" ? given.lease : undefined),
    };
  }
  if (diagnosis.is === "underWay")
    return {
      ...given,
      nowMs: given.nowMs + diagnosis.afterMs,
      agentState: given.agentState && { ...given.agentState, binding: null },
      // The other browser has been inspected meanwhile.
      elsewhere: given.elsewhere.is === "unsure" ? { is: "no" } : given.elsewhere,
    };
  if (diagnosis.is !== "end") return given;
  const agentState = free({
    epoch: given.agentState?.fence.epoch ?? 1,
    seq: Math.max(diagnosis.lease.seq, given.agentState?.fence.seq ?? 0),
  });
  const ended: Facts = { ...given, agentState };
  const next = diagnoseAfterEnd(given, diagnosis, { kind: "ok", state: agentState });
  return next ? afterwards(ended, next) : ended;
};

test("whatever is seen: repeated inspections come to rest, and Redis agrees with the agent", () => {
  fc.assert(
    fc.property(anyFacts, (first) => {
      let now = first;
      for (let round = 0; round < 6; round++) now = afterwards(now, diagnose(now));
      const diagnosis = diagnose(now);
      expect(["well", "silent"]).toContain(diagnosis.is);
      const { record, agentState } = now;
      if (diagnosis.is === "silent" || record?.state === "retired" || !agentState) return;
      expect(record?.state).toBe(agentState.lease ? "leased" : "idle");
      if (agentState.lease) expect(now.lease?.session).toBe(agentState.lease.session_id);
    }),
    { numRuns: 1000 },
  );
});
