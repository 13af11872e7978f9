/**
 * Diagnoses one browser from its record in Redis and its agent's state; pure. Registration, recovery, half-done steps,
 * suspects and the audit all use this one diagnosis.
 *
 *   the agent holds      │ the record's lease          the browser is well
 *                        │ a lease whose session       the agent ends it
 *                        │ is over
 *                        │ any other lease             Redis has lost it: it is restored as it was
 *   it holds none, and   │
 *   the record is        │ (none)     the browser is registered as idle
 *                        │ idle       the browser is well; a `seq` that Redis has lost is raised
 *                        │ suspect    the browser becomes idle again
 *                        │ leased     the agent ended the lease and Redis lost that, or the grant was never bound
 *                        │ releasing  the agent ended the lease and Redis lost the offer, or the bind never arrived
 *
 * A session is over when Redis lists it as ended, when another browser's agent bound it later, or when a `suspect` or
 * `releasing` record names it. Two rules make this list complete. Before a browser becomes idle, its agent uses up the
 * fence of the last grant, so that it refuses a bind that is still on its way. And `seq` never falls, neither in Redis
 * nor at the agent.
 *
 * A Redis that fell back to older data may have the session in the queue again, or may even have granted it a second
 * browser. Neither means that the session is over. Its caller has a browser, so restoring the lease takes the session
 * out of the queue.
 *
 * An API replica may still be at work on a recent step, so a step is left alone for `stepMs`; for `stillStepMs` when it
 * is the bind of a replica that Redis has not heard of lately (LEASE-54).
 *
 * A browser that has ended, and whose agent only keeps its profile to be saved, is retired; its lease ends with the
 * agent's reason.
 *
 * A browser with a leaving mark is diagnosed like any other; the repair script retires it instead of making it idle.
 */
import type { AgentState, Fence, LeaseEnd } from "../protocol/agent-api.ts";
import type { AgentAnswer, LeaseAtAgent } from "./agent/agent-client.ts";
import type { NewBrowser } from "./lease-store.ts";
import { recheckChannel } from "./pool-keys.ts";
import { agentMismatch, type BrowserRecord, type LeaseRecord, notGenuine, SessionRequest } from "./records.ts";
import type { Repair } from "./repair-store.ts";

/** Time that a replica gets to finish a bind or an end, ms: the call's deadline (3 s), and a short outage of Redis. */
export const stepMs = 10_000;

/**
 * The same for the bind of a replica that stands still, ms: longer than the silence by which that is known (beats.lua).
 * If it wakes up after that, its bind is refused by the fence.
 */
export const stillStepMs = 2500;

/** When to inspect again a browser whose bind waits for the health check, ms: the agent has given up by then. */
const bindingMs = 2500;

/** When to inspect again a browser whose session may have another browser, ms. */
const unsureMs = 1000;

/** When to inspect again a browser that its agent is resetting, ms. */
const resettingMs = 1000;

/** The reason of a suspect whose agent answered, but whose Chromium did not. */
const unhealthy = "browser_unhealthy";

/** Suspects with these reasons are destroyed; their agents are not asked. */
const unrecoverable = new Set<string | undefined>([unhealthy, agentMismatch, notGenuine]);

/** The lease in an agent's state. */
export type Held = NonNullable<AgentState["lease"]>;

/** What is known of the session that the agent holds, apart from this browser. */
export type Elsewhere =
  /** Nothing shows that the session ended or moved to another browser. */
  | { is: "no" }
  /** The session ended, or the agent of another browser bound it later. */
  | { is: "over" }
  /** Redis lists another browser for the session, and that browser's agent does not hold it (yet). */
  | { is: "unsure" }
  /** The agent of another browser bound it earlier: the caller was then given this browser. */
  | { is: "before"; browser: string };

export type Facts = {
  poolUid: string;
  /** As its pod describes it; a browser without a record is registered with this. */
  browser: NewBrowser;
  record: BrowserRecord | undefined;
  /** The lease that the record names. */
  lease: LeaseRecord | undefined;
  /** The API replica that asked for this lease is silent. */
  isReplicaStill?: boolean;
  /** Asked under the pool's epoch, after the record was read; undefined when the agent does not answer. */
  agentState: AgentState | undefined;
  /** Something answers at the browser's address that does not prove to be its agent. Then there is no `agentState`. */
  isImpostor?: boolean;
  /** Says something only when the agent's session is not the record's. */
  elsewhere: Elsewhere;
  /** When the record was read, ms by Redis' clock. */
  nowMs: number;
};

export type Correction =
  /** A new browser, or a browser that Redis has lost, becomes idle. */
  | "Registered"
  /** A lease that Redis has lost is back as it was. */
  | "Restored"
  /** A suspect becomes idle again. */
  | "Cleared"
  /** Redis had lost the highest `seq` of the browser. */
  | "SeqRaised"
  /** The agent had ended the lease, and Redis did not know. */
  | "EndLost"
  /** The browser has ended by itself, and its agent keeps its profile. */
  | "Ended"
  /** The agent had ended the lease, and no replica had offered the browser. */
  | "OfferLost"
  /** The agent had never bound the grant. */
  | "NeverBound"
  | "Suspected"
  | "Retired";

type Correct = { is: "correct"; why: Correction; to: Repair };

export type Diagnosis =
  | { is: "well" }
  /** A replica or the agent is at work on it: inspect it again after this time. */
  | { is: "underWay"; afterMs: number }
  /** The agent does not answer; this alone changes nothing. */
  | { is: "silent" }
  | Correct
  /**
   * The agent must end this lease, or refuse it if its bind never came. `after`: the next step; left out, diagnose
   * anew.
   */
  | { is: "end"; lease: Pick<LeaseAtAgent, "session" | "epoch" | "seq">; after?: Correct };

/** The diagnosis of a browser that will be destroyed, which needs no agent state; undefined for any other. */
export const diagnoseWithoutAgent = (record: BrowserRecord | undefined): Diagnosis | undefined => {
  if (record?.state === "retired") return { is: "well" };
  return record?.state === "suspect" && unrecoverable.has(record.reason) ? retire(record) : undefined;
};

/** What to do about one browser, by the table above. The same facts always give the same answer. */
export const diagnose = (facts: Facts): Diagnosis => {
  const { record, agentState } = facts;
  const withoutAgent = diagnoseWithoutAgent(record);
  if (withoutAgent) return withoutAgent;
  if (!agentState) return diagnoseSilence(facts);
  if (agentState.ended && record) return ended(record, agentState.ended);
  if (agentState.binding !== null) return { is: "underWay", afterMs: bindingMs };
  if (agentState.resetting) return { is: "underWay", afterMs: resettingMs };
  return agentState.lease ? diagnoseHeld(facts, agentState.lease, agentState.fence) : diagnoseFree(facts, agentState);
};

/** What follows from the agent's answer to the end that a diagnosis asked for; undefined: diagnose anew. */
export const diagnoseAfterEnd = (
  facts: Facts,
  { after }: Extract<Diagnosis, { is: "end" }>,
  answer: AgentAnswer,
): Diagnosis | undefined => {
  const { record } = facts;
  if (answer.kind === "ok" && answer.state.resetting)
    return after && record && suspect(record, "resetting", after.to.former);
  if (answer.kind === "ok") return after;
  if (answer.kind === "unreachable")
    return record?.state === "releasing" ? suspect(record, "unreachable") : { is: "silent" };
  const mayBeSuspected = record !== undefined && (after !== undefined || record.state !== "leased");
  const isVerdict = answer.code === unhealthy || answer.code === notGenuine;
  if (!isVerdict || !mayBeSuspected) return undefined;
  return suspect(record, answer.code, after?.to.former);
};

const diagnoseSilence = (facts: Facts): Diagnosis => {
  const { record } = facts;
  if (record?.state === "suspect") return retire(record);
  // No caller may get it. A browser in use stays its holder's, whose connection was proven when it began.
  if (facts.isImpostor && (record?.state === "idle" || record?.state === "releasing"))
    return suspect(record, notGenuine);
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
  // Wait for the other browser's inspection: it drops that grant, or its agent confirms that it was bound.
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

const patienceMs = ({ record, isReplicaStill }: Facts): number =>
  record?.state === "leased" && isReplicaStill ? stillStepMs : stepMs;

const isFresh = (facts: Facts): boolean => {
  const { record, nowMs } = facts;
  return (record?.state === "leased" || record?.state === "releasing") && nowMs - record.since < patienceMs(facts);
};

const underWay = (facts: Facts): Diagnosis => ({
  is: "underWay",
  afterMs: Math.max(1, (facts.record?.since ?? 0) + patienceMs(facts) - facts.nowMs),
});

/**
 * With the agent's epoch where it is higher: the agent ignores the end of a lower epoch, and its `seq` would not rise.
 */
const neverBound = (facts: Facts, lease: LeaseRecord, agentEpoch: number): Diagnosis => ({
  is: "end",
  lease: { session: lease.session, epoch: Math.max(lease.epoch, agentEpoch), seq: lease.seq },
  after: free(facts, "NeverBound", lease.seq, "dropped"),
});

/** The request that the bind brought; undefined when it is malformed, because the API can't describe such a lease. */
const requestOf = ({ request = "" }: Held): string | undefined => {
  try {
    return SessionRequest.safeParse(JSON.parse(request)).success ? request : undefined;
  } catch {
    return undefined;
  }
};

type NewRecord = Repair["record"];

/** The fields of the record that do not depend on its state. */
const bare = ({ browser, record, agentState }: Facts): Omit<NewRecord, "state"> => {
  const { leaving } = record ?? browser;
  const since = record?.leaving_since;
  const chromium = agentState?.chromium ?? record?.chromium;
  return {
    id: browser.id,
    pod: browser.pod,
    address: record?.address ?? browser.address,
    config: record?.config ?? browser.configHash,
    seq: record?.seq ?? 0,
    ...(leaving && { leaving }),
    ...(chromium && { chromium }),
    ...(since !== undefined && { leaving_since: since }),
  };
};

const free = (facts: Facts, why: Correction, seq: number, former: Repair["former"] = "kept"): Correct => {
  const known = bare(facts);
  const kept = facts.agentState?.kept;
  return {
    is: "correct",
    why,
    to: { record: { ...known, state: "idle", seq: Math.max(known.seq, seq), ...(kept && { kept }) }, former },
  };
};

/** `former`: what happens to the lease of the record. One of the same session is replaced: the session goes on. */
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
    // No grant is published to this lease's caller: it has the browser, or takes again and finds the lease.
    channel: recheckChannel(facts.poolUid),
    request,
  };
  const { elsewhere, lease } = facts;
  if (lease?.session === held.session_id)
    return { is: "correct", why: "Restored", to: { record, restored, former: "kept", displaced: record.id } };
  const displaced = elsewhere.is === "before" ? { displaced: elsewhere.browser } : {};
  return { is: "correct", why: "Restored", to: { record, restored, former, ...displaced } };
};

const suspect = (
  { since: _, ...record }: BrowserRecord,
  reason: string,
  former: Repair["former"] = "kept",
): Correct => ({ is: "correct", why: "Suspected", to: { record: { ...record, state: "suspect", reason }, former } });

const ended = ({ since: _, session: __, ...record }: BrowserRecord, why: LeaseEnd): Correct => ({
  is: "correct",
  why: "Ended",
  to: {
    record: { ...record, state: "retired", reason: why },
    former: why === "stopped" ? "pod_deleted" : why,
  },
});

const retire = ({ since: _, session: __, ...record }: BrowserRecord): Correct => ({
  is: "correct",
  why: "Retired",
  to: { record: { ...record, state: "retired", reason: record.reason ?? "unreachable" }, former: "kept" },
});
