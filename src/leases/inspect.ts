/**
 * A look at one browser: what Redis knows is read, the agent asked, both judged (diagnose.ts), and what is wrong corrected.
 *
 *   examine ──► ask under the epoch ──► judge ──► settle ──► done
 *      ▲                                  │         └─ something has changed meanwhile: once more
 *      └──────────────────────────────────┴─ the agent ended what is over
 *
 * The order makes it safe beside everything else that goes on: the agent's word is later than the record, which is changed
 * only if it is still the same, so the word was true of that record. Between the two no bind of an older epoch can come.
 */
import type { AgentState } from "../protocol/agent-api.ts";
import type { SessionNames } from "../redis/session-names.ts";
import type { AgentClient } from "./agent-client.ts";
import {
  type Correction,
  type Diagnosis,
  diagnose,
  diagnoseAfterEnd,
  diagnoseWithoutAgent,
  type Elsewhere,
  type Facts,
  type Held,
} from "./diagnose.ts";
import type { NewBrowser } from "./lease-store.ts";
import { type LeaseRecord, SessionRequest } from "./records.ts";
import type { Examined, RepairStore } from "./repair-store.ts";

export type InspectDeps = {
  repairs: Pick<RepairStore, "examine" | "repair" | "session">;
  agents: Pick<AgentClient, "state" | "end">;
  names: Pick<SessionNames, "reserve">;
  /** Throws when whoever looks may not (any more); called before everything that has an effect. */
  check(): void;
};

export type InspectTarget = { poolUid: string; epoch: number; browser: NewBrowser };

/** `reason`: of a browser that is retired. */
export type Corrected = { why: Correction; reason?: string };

export type InspectResult = { corrected: Corrected[] } & (
  | { is: "done" }
  /** Something is under way: to be looked at again. */
  | { is: "later"; afterMs: number }
  /** The agent did not answer. */
  | { is: "silent" }
  /** The pool has another epoch. */
  | { is: "outdated" }
  /** The agent was asked under a later epoch than Redis knows. */
  | { is: "ahead"; epoch: number }
);

/** A browser that changes faster than it can be looked at is in use; it is looked at again after this, ms. */
const busyMs = 1000;
const maxSteps = 5;

type Step = InspectResult | "again";
type Inspection = { target: InspectTarget; deps: InspectDeps; corrected: Corrected[] };

/** Throws `unavailable` when Redis does not answer, and what `check` throws. Changes nothing that it was not sure of. */
export const inspect = async (target: InspectTarget, deps: InspectDeps): Promise<InspectResult> => {
  const corrected: Corrected[] = [];
  for (let step = 0; step < maxSteps; step++) {
    const result = await takeStep({ target, deps, corrected });
    if (result !== "again") return result;
  }
  return { is: "later", afterMs: busyMs, corrected };
};

const takeStep = async (inspection: Inspection): Promise<Step> => {
  const { target, deps, corrected } = inspection;
  const { poolUid, epoch, browser } = target;
  const examined = await deps.repairs.examine(poolUid, browser.id);
  if (examined.epoch !== epoch) return { is: "outdated", corrected };
  const { record, lease, nowMs } = examined;
  const agentState = diagnoseWithoutAgent(record) ? undefined : await ask(target, deps);
  if (agentState && agentState.fence.epoch > epoch) return { is: "ahead", epoch: agentState.fence.epoch, corrected };
  const elsewhere = await findElsewhere(target, lease, agentState, deps);
  const facts: Facts = { poolUid, browser, record, lease, agentState, elsewhere, nowMs };
  const diagnosis = diagnose(facts);
  if (diagnosis.is !== "end") return carryOut(diagnosis, examined, inspection);

  deps.check();
  const place = { browser: browser.id, address: record?.address ?? browser.address };
  const next = diagnoseAfterEnd(facts, diagnosis, await deps.agents.end({ ...place, ...diagnosis.lease }));
  return next ? carryOut(next, examined, inspection) : "again";
};

const ask = async ({ epoch, browser }: InspectTarget, deps: InspectDeps): Promise<AgentState | undefined> => {
  deps.check();
  const answer = await deps.agents.state({ browser: browser.id, address: browser.address }, epoch);
  return answer.kind === "ok" ? answer.state : undefined;
};

const findElsewhere = async (
  { poolUid, epoch, browser }: InspectTarget,
  lease: LeaseRecord | undefined,
  word: AgentState | undefined,
  { repairs, agents, check }: InspectDeps,
): Promise<Elsewhere> => {
  const held = word?.lease;
  if (!held || held.session_id === lease?.session) return { is: "no" };
  const { isEnded, lease: other } = await repairs.session(poolUid, held.session_id);
  if (isEnded) return { is: "over" };
  if (!other || other.browser === browser.id) return { is: "no" };
  check();
  const answer = await agents.state(other, epoch);
  const there = answer.kind === "ok" ? answer.state.lease : null;
  if (there?.session_id !== held.session_id) return { is: "unsure" };
  return isBefore(there, held) ? { is: "before", browser: other.browser } : { is: "over" };
};

/** Epochs tell it for certain; within one there are only the clocks of two nodes. */
const isBefore = (there: Held, here: Held): boolean =>
  there.epoch === here.epoch ? there.bound_at < here.bound_at : there.epoch < here.epoch;

const carryOut = async (
  diagnosis: Diagnosis,
  examined: Examined,
  { target, deps, corrected }: Inspection,
): Promise<Step> => {
  if (diagnosis.is === "well") return { is: "done", corrected };
  if (diagnosis.is === "underWay") return { is: "later", afterMs: diagnosis.afterMs, corrected };
  if (diagnosis.is !== "correct") return { is: "silent", corrected };
  const { why, to } = diagnosis;
  deps.check();
  if (to.restored) await reserveName(target, to.restored, deps);
  if (!(await deps.repairs.repair(target.poolUid, examined, to))) return "again";
  corrected.push({ why, ...(why === "Retired" && to.record.reason && { reason: to.record.reason }) });
  // Whoever becomes suspect is looked at at once, and with the same eyes.
  return why === "Suspected" ? "again" : { is: "done", corrected };
};

/** A name that a later session has taken in the meantime stays with that one. */
const reserveName = async ({ poolUid }: InspectTarget, lease: LeaseRecord, { names }: InspectDeps): Promise<void> => {
  const { name, project } = SessionRequest.parse(JSON.parse(lease.request));
  if (name) await names.reserve(project, name, { poolUid, session: lease.session });
};
