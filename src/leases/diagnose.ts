/**
 * What is to be done about one browser, by what Redis knows of it and what its agent says; pure. The one judgement for a
 * browser that enters its pool, for recovery, for steps that were left half-done, for suspects and for the audit.
 *
 *   the agent holds      │ the record's lease            all is well
 *                        │ one that Redis knows as over  it is ended at the agent
 *                        │ any other                     Redis has lost it: it is restored as it was
 *   it holds none, and   │
 *   the record is        │ (none)     the browser enters as idle
 *                        │ idle       well; a `seq` that Redis has lost is raised
 *                        │ suspect    idle again
 *                        │ leased     the agent has ended it and Redis has lost that, or the grant was never bound
 *                        │ releasing  the agent has ended it and Redis has lost the offer, or the bind never came
 *
 * Over is a session that Redis has among the ended ones, one that another browser's agent bound later, and the one that a
 * `suspect` or `releasing` record names. For that to be all: before a browser becomes idle, the fence of its last grant is used
 * up at its agent, so that a bind that is still on its way comes too late, and `seq` never falls, neither here nor there.
 *
 * A Redis that fell back to older data may have the session in the queue again, and may even have granted it a second browser:
 * neither says that it is over. Whoever has it waits no more, so it leaves the queue when its lease is restored.
 *
 * A step that its API replica may still be busy with is left alone for `stepMs`.
 *
 * What is to leave its pool is judged as any other; the script that sets its record retires it instead of making it idle.
 */
import type { AgentState, Fence } from "../protocol/agent-api.ts";
import type { AgentAnswer, LeaseAtAgent } from "./agent-client.ts";
import type { NewBrowser } from "./lease-store.ts";
import { recheckChannel } from "./pool-keys.ts";
import { agentMismatch, type BrowserRecord, type LeaseRecord, SessionRequest } from "./records.ts";
import type { Repair } from "./repair-store.ts";

/** Time for a bind or an end to come to an end by itself, ms: the call's deadline (3 s), and a moment in which Redis is away. */
export const stepMs = 10_000;

/** When to look again at a browser whose bind waits for its health, ms: the agent has given up by then. */
const bindingMs = 2500;

/** When to look again at a browser whose session may have another one, ms. */
const unsureMs = 1000;

/** Tells a suspect whose Chromium is at fault from one whose agent was not reached. */
const unhealthy = "browser_unhealthy";

/** Reasons for which a suspect is not asked but destroyed. */
const hopeless = new Set<string | undefined>([unhealthy, agentMismatch]);

/** The lease that an agent says it holds. */
export type Held = NonNullable<AgentState["lease"]>;

export type Elsewhere =
  /** Nothing says that the session ended or moved on. */
  | { is: "no" }
  /** It ended, or the agent of another browser bound it later. */
  | { is: "over" }
  /** Redis says that it has another browser, whose agent does not (yet) say so. */
  | { is: "unsure" }
  /** The agent of another browser bound it earlier: its caller was told of this one. */
  | { is: "before"; browser: string };

export type Facts = {
  poolUid: string;
  /** As its pod describes it; what a browser without a record enters with. */
  browser: NewBrowser;
  record: BrowserRecord | undefined;
  /** The lease that the record names. */
  lease: LeaseRecord | undefined;
  /** What the agent says, asked under the pool's epoch after the record was read; undefined when it does not answer. */
  agentState: AgentState | undefined;
  /** What is known of the session that the agent holds, when it is not the record's. */
  elsewhere: Elsewhere;
  /** When the record was read, ms by Redis' clock. */
  nowMs: number;
};

export type Correction =
  /** A new browser, or one that Redis has forgotten, is idle. */
  | "Registered"
  /** A lease that Redis has forgotten is back as it was. */
  | "Restored"
  /** A suspect is idle again. */
  | "Cleared"
  /** Redis had forgotten how many leases there were. */
  | "SeqRaised"
  /** The agent had ended the lease, and Redis did not know. */
  | "EndLost"
  /** The agent had ended the lease, and nobody had offered the browser. */
  | "OfferLost"
  /** The grant had never become a lease. */
  | "NeverBound"
  | "Suspected"
  | "Retired";

type Correct = { is: "correct"; why: Correction; to: Repair };

export type Diagnosis =
  | { is: "well" }
  /** Somebody is busy with it: to be looked at again. */
  | { is: "underWay"; afterMs: number }
  /** The agent does not answer, which alone changes nothing. */
  | { is: "silent" }
  | Correct
  /** The agent shall end this lease, or refuse it if it never came; what is due `after` that, or the browser is judged anew. */
  | { is: "end"; lease: Pick<LeaseAtAgent, "session" | "epoch" | "seq">; after?: Correct };

/** A judgement that needs no word of the agent: the browser will be destroyed. */
export const diagnoseWithoutAgent = (record: BrowserRecord | undefined): Diagnosis | undefined => {
  if (record?.state === "retired") return { is: "well" };
  return record?.state === "suspect" && hopeless.has(record.reason) ? retire(record) : undefined;
};

/** What to do about one browser, by the table above. The same facts always give the same answer. */
export const diagnose = (facts: Facts): Diagnosis => {
  const { record, agentState } = facts;
  const unasked = diagnoseWithoutAgent(record);
  if (unasked) return unasked;
  if (!agentState) return diagnoseSilence(facts);
  if (agentState.binding !== null) return { is: "underWay", afterMs: bindingMs };
  return agentState.lease ? diagnoseHeld(facts, agentState.lease, agentState.fence) : diagnoseFree(facts, agentState);
};

/** What follows from the agent's answer to the end that a verdict asked for; undefined: judge anew. */
export const diagnoseAfterEnd = (
  facts: Facts,
  { after }: Extract<Diagnosis, { is: "end" }>,
  answer: AgentAnswer,
): Diagnosis | undefined => {
  const { record } = facts;
  if (answer.kind === "ok") return after;
  if (answer.kind === "unreachable")
    return record?.state === "releasing" ? suspect(record, "unreachable") : { is: "silent" };
  const mayBeSuspected = record !== undefined && (after !== undefined || record.state !== "leased");
  if (answer.code !== unhealthy || !mayBeSuspected) return undefined;
  return suspect(record, unhealthy, after?.to.former);
};

const diagnoseSilence = (facts: Facts): Diagnosis => {
  const { record } = facts;
  if (record?.state === "suspect") return retire(record);
  if (record?.state === "releasing" && !isFresh(facts)) return suspect(record, "unreachable");
  return { is: "silent" };
};

const diagnoseHeld = (facts: Facts, held: Held, fence: Fence): Diagnosis => {
  const { record, lease, elsewhere } = facts;
  if (lease?.session === held.session_id && lease.seq === held.seq) return { is: "well" };
  const request = requestOf(held);
  const isRecordsLast = record?.state !== "leased" && record?.session === held.session_id;
  const isOver = elsewhere.is === "over" || isRecordsLast || request === undefined;
  const isOlder = lease !== undefined && held.seq <= lease.seq;
  // The other browser's turn comes first: its grant is found to have been given in vain, or its agent confirms it.
  if (!isOver && elsewhere.is === "unsure") return { is: "underWay", afterMs: unsureMs };
  if (!isOver && !isOlder) return restore(facts, held, request, lease ? "released" : "kept");
  if (isFresh(facts)) return underWay(facts);
  if (!isOver) return restore(facts, held, request, "dropped");
  if (isOlder) return neverBound(facts, lease, fence.epoch);
  return { is: "end", lease: { session: held.session_id, epoch: held.epoch, seq: held.seq } };
};

const diagnoseFree = (facts: Facts, { fence }: AgentState): Diagnosis => {
  const { record, lease } = facts;
  if (!record) return free(facts, "Registered", fence.seq);
  if (record.state === "idle") return fence.seq > record.seq ? free(facts, "SeqRaised", fence.seq) : { is: "well" };
  if (isFresh(facts)) return underWay(facts);
  if (lease)
    return fence.seq >= lease.seq
      ? free(facts, "EndLost", fence.seq, "released")
      : neverBound(facts, lease, fence.epoch);
  const after = free(facts, record.state === "suspect" ? "Cleared" : "OfferLost", fence.seq);
  if (fence.seq >= record.seq || record.session === undefined) return after;
  return { is: "end", lease: { session: record.session, epoch: fence.epoch, seq: record.seq }, after };
};

const isFresh = ({ record, nowMs }: Facts): boolean =>
  (record?.state === "leased" || record?.state === "releasing") && nowMs - record.since < stepMs;

const underWay = ({ record, nowMs }: Facts): Diagnosis => ({
  is: "underWay",
  afterMs: Math.max(1, (record?.since ?? 0) + stepMs - nowMs),
});

/** The agent's epoch: the lease's own may be below it by now, and its fence would be used up already without its `seq` being so. */
const neverBound = (facts: Facts, lease: LeaseRecord, agentEpoch: number): Diagnosis => ({
  is: "end",
  lease: { session: lease.session, epoch: Math.max(lease.epoch, agentEpoch), seq: lease.seq },
  after: free(facts, "NeverBound", lease.seq, "dropped"),
});

/** The request as it was bound; undefined when it is none, so that the lease can't be told of to anybody. */
const requestOf = ({ request = "" }: Held): string | undefined => {
  try {
    return SessionRequest.safeParse(JSON.parse(request)).success ? request : undefined;
  } catch {
    return undefined;
  }
};

type NewRecord = Repair["record"];

/** The record as it was, without what belongs to a state. */
const bare = ({ browser, record }: Facts): Omit<NewRecord, "state"> => {
  const { leaving } = record ?? browser;
  return {
    id: browser.id,
    pod: browser.pod,
    address: record?.address ?? browser.address,
    config: record?.config ?? browser.configHash,
    seq: record?.seq ?? 0,
    ...(leaving && { leaving }),
  };
};

const free = (facts: Facts, why: Correction, seq: number, former: Repair["former"] = "kept"): Correct => {
  const known = bare(facts);
  return {
    is: "correct",
    why,
    to: { record: { ...known, state: "idle", seq: Math.max(known.seq, seq) }, former },
  };
};

const restore = (facts: Facts, held: Held, request: string, former: Repair["former"]): Correct => {
  const known = bare(facts);
  const seq = Math.max(known.seq, held.seq);
  const record: NewRecord = { ...known, state: "leased", session: held.session_id, seq };
  const restored: LeaseRecord = {
    session: held.session_id,
    browser: record.id,
    pod: record.pod,
    address: record.address,
    config: record.config,
    epoch: held.epoch,
    seq: held.seq,
    created_at: Date.parse(held.bound_at),
    ticket: "0",
    // Its caller has it, or is told to take again, which finds the lease.
    channel: recheckChannel(facts.poolUid),
    request,
  };
  const { elsewhere } = facts;
  const displaced = elsewhere.is === "before" ? { displaced: elsewhere.browser } : {};
  return { is: "correct", why: "Restored", to: { record, restored, former, ...displaced } };
};

const suspect = (
  { since: _, ...record }: BrowserRecord,
  reason: string,
  former: Repair["former"] = "kept",
): Correct => ({ is: "correct", why: "Suspected", to: { record: { ...record, state: "suspect", reason }, former } });

const retire = ({ since: _, session: __, ...record }: BrowserRecord): Correct => ({
  is: "correct",
  why: "Retired",
  to: { record: { ...record, state: "retired", reason: record.reason ?? "unreachable" }, former: "kept" },
});
