import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentState, Fence } from "../protocol/agent-api.ts";
import type { AgentAnswer } from "./agent-client.ts";
import { type Diagnosis, diagnose, diagnoseAfterEnd, type Elsewhere, type Facts, stepMs } from "./diagnose.ts";
import type { BrowserRecord, LeaseRecord } from "./records.ts";

const nowMs = 1_900_000_000_000;
const long = stepMs;
const request = JSON.stringify({ timeout_seconds: 600, pool: { id: "pool", uid: "uid" }, project: "p", name: "n" });
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
  lease: null,
});
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

/** A verdict as a short line. */
const line = (verdict: Diagnosis | undefined): string => {
  if (!verdict) return "judge anew";
  if (verdict.is === "end") {
    const { session, epoch, seq } = verdict.lease;
    return `end ${session} ${epoch}.${seq}${verdict.after ? `, then ${line(verdict.after)}` : ""}`;
  }
  if (verdict.is === "underWay") return `look again in ${verdict.afterMs}`;
  if (verdict.is !== "correct") return verdict.is;
  const { record, former, restored, displaced } = verdict.to;
  const lease = [
    restored && `restored ${restored.session}`,
    displaced && `displaced ${displaced}`,
    former !== "kept" && `former ${former}`,
  ].filter(Boolean);
  return [`${verdict.why}: ${record.state} ${record.seq}`, ...lease].join(", ");
};
const judged = (given: Partial<Facts>): string => line(diagnose(facts(given)));

describe.each<[string, BrowserRecord | undefined, [string, Partial<Facts>, string][]]>([
  [
    "without a record",
    undefined,
    [
      ["holds nothing: enters", { agentState: free(at(2, 5)) }, "Registered: idle 5"],
      ["holds a lease: it is restored", { agentState: holding(5, { under: 2 }) }, "Restored: leased 5, restored s5"],
      [
        "holds one that is over: it is ended",
        { agentState: holding(5, { under: 2 }), elsewhere: { is: "over" } },
        "end s5 1.5",
      ],
      [
        "holds one that another browser may have: waits",
        { agentState: holding(5), elsewhere: { is: "unsure" } },
        "look again in 1000",
      ],
      [
        "holds one that another agent bound before: it is restored in its place",
        { agentState: holding(5), elsewhere: { is: "before", browser: "c" } },
        "Restored: leased 5, restored s5, displaced c",
      ],
      [
        "holds one that says nothing of its request: it is ended",
        { agentState: holding(5, { more: {} }) },
        "end s5 1.5",
      ],
      ["is being bound: waits", { agentState: free(at(2, 5), "s5") }, "look again in 2500"],
      ["does not answer", { agentState: undefined }, "silent"],
    ],
  ],
  [
    "that is idle",
    aRecord("idle", 5),
    [
      ["holds nothing", { agentState: free(at(1, 5)) }, "well"],
      ["has heard of fewer leases: an earlier grant went back unused", { agentState: free(at(1, 4)) }, "well"],
      ["has heard of more leases: Redis lost them", { agentState: free(at(1, 7)) }, "SeqRaised: idle 7"],
      ["holds a newer lease: Redis lost it", { agentState: holding(6) }, "Restored: leased 6, restored s6"],
      ["holds a newer one that is over", { agentState: holding(6), elsewhere: { is: "over" } }, "end s6 1.6"],
      [
        "holds an older one: Redis lost it, and gave its seq away again in vain",
        { agentState: holding(5) },
        "Restored: leased 5, restored s5",
      ],
      ["is being bound", { agentState: free(at(1, 6), "s6") }, "look again in 2500"],
      ["does not answer", {}, "silent"],
    ],
  ],
  [
    "that is leased since a while",
    aRecord("leased", 5, { ageMs: long }),
    [
      ["holds the lease", { agentState: holding(5) }, "well"],
      ["holds the lease of an older epoch", { agentState: holding(5, { under: 3 }) }, "well"],
      ["holds nothing any more", { agentState: free(at(1, 5)) }, "EndLost: idle 5, former released"],
      [
        "holds nothing and has heard of later leases",
        { agentState: free(at(1, 8)) },
        "EndLost: idle 8, former released",
      ],
      ["holds a newer lease", { agentState: holding(6) }, "Restored: leased 6, restored s6, former released"],
      ["has not heard of it", { agentState: free(at(1, 4)) }, "end s5 1.5, then NeverBound: idle 5, former dropped"],
      [
        "was asked under a later epoch before it heard of it",
        { agentState: free(at(3, 4)) },
        "end s5 3.5, then NeverBound: idle 5, former dropped",
      ],
      [
        "holds an older one: the grant was given in vain",
        { agentState: holding(4) },
        "Restored: leased 5, restored s4, former dropped",
      ],
      [
        "holds an older one that is over",
        { agentState: holding(4, { under: 3 }), elsewhere: { is: "over" } },
        "end s5 3.5, then NeverBound: idle 5, former dropped",
      ],
      ["is binding it", { agentState: free(at(1, 5), "s5") }, "look again in 2500"],
      ["does not answer: its holder may still work with it", {}, "silent"],
    ],
  ],
  [
    "that has just been leased",
    aRecord("leased", 5, { ageMs: long - 1 }),
    [
      ["has not heard of it", { agentState: free(at(1, 4)) }, "look again in 1"],
      ["has refused it", { agentState: free(at(1, 5)) }, "look again in 1"],
      ["holds an older one", { agentState: holding(4) }, "look again in 1"],
      ["holds a newer one", { agentState: holding(6) }, "Restored: leased 6, restored s6, former released"],
    ],
  ],
  [
    "that is releasing since a while",
    aRecord("releasing", 5, { ageMs: long }),
    [
      ["has ended it", { agentState: free(at(1, 5)) }, "OfferLost: idle 5"],
      ["still holds it", { agentState: holding(5) }, "end s5 1.5"],
      ["never heard of it", { agentState: free(at(2, 4)) }, "end s5 2.5, then OfferLost: idle 5"],
      ["holds a newer one", { agentState: holding(6) }, "Restored: leased 6, restored s6"],
      ["does not answer", {}, "Suspected: suspect 5"],
    ],
  ],
  [
    "that is releasing since a moment",
    aRecord("releasing", 5),
    [
      ["still holds it", { agentState: holding(5) }, `look again in ${stepMs}`],
      ["has ended it", { agentState: free(at(1, 5)) }, `look again in ${stepMs}`],
      ["does not answer", {}, "silent"],
    ],
  ],
  [
    "that is suspect",
    aRecord("suspect", 5, { reason: "stale_fence" }),
    [
      ["holds nothing", { agentState: free(at(1, 9)) }, "Cleared: idle 9"],
      ["never heard of what was rejected", { agentState: free(at(2, 4)) }, "end s5 2.5, then Cleared: idle 5"],
      ["holds an older lease", { agentState: holding(4) }, "Restored: leased 5, restored s4"],
      ["holds what was rejected or released", { agentState: holding(5) }, "end s5 1.5"],
      ["holds a newer lease", { agentState: holding(9) }, "Restored: leased 9, restored s9"],
      ["is being bound", { agentState: free(at(1, 5), "s5") }, "look again in 2500"],
      ["does not answer", {}, "Retired: retired 5"],
    ],
  ],
  [
    "that is suspect because its agent said what is not so",
    aRecord("suspect", 5, { reason: "false_word" }),
    [["is not asked", { agentState: free(at(1, 5)) }, "Retired: retired 5"]],
  ],
  [
    "that is suspect because its browser is not healthy",
    aRecord("suspect", 5, { reason: "browser_unhealthy" }),
    [["is not asked", { agentState: free(at(1, 5)) }, "Retired: retired 5"]],
  ],
  ["that is retired", aRecord("retired", 5), [["may say what it will", { agentState: holding(9) }, "well"]]],
])("a browser %s", (_, record, cases) => {
  test.each(cases)("whose agent %s", (__, given, verdict) => {
    expect(judged({ record, ...given })).toBe(verdict);
  });
});

test("a restored lease is as it was bound", () => {
  const verdict = diagnose(facts({ agentState: holding(5, { epoch: 1, under: 4 }) }));
  expect(verdict).toMatchObject({
    to: {
      record: { id: "b", ...place, config: "hash", state: "leased", session: "s5", seq: 5 },
      restored: { session: "s5", browser: "b", ...place, epoch: 1, seq: 5, created_at: nowMs - 60_000, request },
    },
  });
});

describe("after an end at the agent", () => {
  const ends = (given: Partial<Facts>, answer: AgentAnswer): string => {
    const all = facts(given);
    const verdict = diagnose(all);
    if (verdict.is !== "end") throw new Error(`no end: ${verdict.is}`);
    return line(diagnoseAfterEnd(all, verdict, answer));
  };
  const ok: AgentAnswer = { kind: "ok", state: free(at(1, 5)) };
  const refused = (code: string): AgentAnswer => ({ kind: "refused", code });
  const silent: AgentAnswer = { kind: "unreachable", reason: "timeout" };
  const neverBound = { record: aRecord("leased", 5, { ageMs: long }), agentState: free(at(1, 4)) };
  const stuck = { record: aRecord("releasing", 5, { ageMs: long }), agentState: holding(5) };

  test.each<[string, Partial<Facts>, AgentAnswer, string]>([
    ["a grant that was never bound is taken back", neverBound, ok, "NeverBound: idle 5, former dropped"],
    ["one that was bound at last is judged anew", neverBound, refused("not_holder"), "judge anew"],
    [
      "its browser is suspect when it is not healthy",
      neverBound,
      refused("browser_unhealthy"),
      "Suspected: suspect 5, former dropped",
    ],
    ["nothing is known without an answer", neverBound, silent, "silent"],
    ["a release that got stuck is judged anew", stuck, ok, "judge anew"],
    ["without an answer its browser is suspect", stuck, silent, "Suspected: suspect 5"],
    [
      "a browser that has no record can't be suspect",
      { agentState: holding(5), elsewhere: { is: "over" } },
      refused("browser_unhealthy"),
      "judge anew",
    ],
  ])("%s", (_, given, answer, verdict) => {
    expect(ends(given, answer)).toBe(verdict);
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
      const verdict = diagnose(given);
      if (verdict.is !== "correct") return;
      const { record, restored } = verdict.to;
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

test("whatever is seen: what is to leave stays so; without a record its pod says whether", () => {
  fc.assert(
    fc.property(anyFacts, fc.constantFrom(undefined, "NodeLeaving"), (given, leaving) => {
      const mark = leaving ? { leaving } : {};
      const browser = given.record ? given.browser : { ...given.browser, ...mark };
      const record = given.record && { ...given.record, ...mark };
      const verdict = diagnose({ ...given, browser, record });
      if (verdict.is === "correct") expect(verdict.to.record.leaving).toBe(leaving);
    }),
  );
});

test("whatever is seen: no lease that may be somebody's is ended", () => {
  fc.assert(
    fc.property(anyFacts, (given) => {
      const verdict = diagnose(given);
      const held = given.agentState?.lease;
      const isCurrent = held && given.lease?.session === held.session_id && given.lease.seq === held.seq;
      const isNews = held && given.elsewhere.is !== "over" && held.session_id !== given.record?.session;
      if (!isCurrent && !isNews) return;
      expect(verdict.is).not.toBe("end");
      if (verdict.is === "correct") expect(verdict.why).toBe("Restored");
    }),
  );
});

/** The world after a verdict was carried out. */
const afterwards = (given: Facts, verdict: Diagnosis): Facts => {
  if (verdict.is === "correct") {
    const { record, restored, former } = verdict.to;
    return {
      ...given,
      record: { ...record, since: given.nowMs },
      lease: restored ?? (former === "kept" ? given.lease : undefined),
    };
  }
  if (verdict.is === "underWay")
    return {
      ...given,
      nowMs: given.nowMs + verdict.afterMs,
      agentState: given.agentState && { ...given.agentState, binding: null },
      // The other browser has had its turn meanwhile.
      elsewhere: given.elsewhere.is === "unsure" ? { is: "no" } : given.elsewhere,
    };
  if (verdict.is !== "end") return given;
  const agentState = free({
    epoch: given.agentState?.fence.epoch ?? 1,
    seq: Math.max(verdict.lease.seq, given.agentState?.fence.seq ?? 0),
  });
  const ended: Facts = { ...given, agentState };
  const next = diagnoseAfterEnd(given, verdict, { kind: "ok", state: agentState });
  return next ? afterwards(ended, next) : ended;
};

test("whatever is seen: looking again and again comes to rest, with Redis and the agent at one", () => {
  fc.assert(
    fc.property(anyFacts, (first) => {
      let now = first;
      for (let round = 0; round < 6; round++) now = afterwards(now, diagnose(now));
      const verdict = diagnose(now);
      expect(["well", "silent"]).toContain(verdict.is);
      const { record, agentState } = now;
      if (verdict.is === "silent" || record?.state === "retired" || !agentState) return;
      expect(record?.state).toBe(agentState.lease ? "leased" : "idle");
      if (agentState.lease) expect(now.lease?.session).toBe(agentState.lease.session_id);
    }),
    { numRuns: 1000 },
  );
});
