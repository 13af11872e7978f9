/**
 * One inspection of one browser: read its record, ask its agent, diagnose both (diagnose.ts), repair the record.
 *
 *   examine ──► ask under the epoch ──► diagnose ──► repair ──► done
 *      ▲                                   │           └─ the record has changed meanwhile: again
 *      └───────────────────────────────────┴─ the agent ended a lease that is over: again
 *
 * The order makes an inspection safe while other processes change the same browser. The agent answers after the record
 * was read, and the repair does nothing when the record has changed since, so the agent's state belongs to that record.
 * From its answer on, the agent refuses binds of older epochs.
 */

import type { AgentState } from "../protocol/agent-api.ts";
import type { SessionNames } from "../reservations/session-names.ts";
import type { AgentClient } from "./agent/agent-client.ts";
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
import { freeName } from "./free-name.ts";
import type { NewBrowser } from "./lease-store.ts";
import { type LeaseRecord, notGenuine, requestOf, unauthorized } from "./records.ts";
import type { Examined, Repair, RepairStore } from "./repair-store.ts";
import { type OutcomeReports, reportOutcome } from "./report-outcome.ts";

export type InspectDeps = {
  repairs: Pick<RepairStore, "examine" | "repair" | "session">;
  agents: Pick<AgentClient, "state" | "end">;
  names: Pick<SessionNames, "reserve" | "free">;
  /** Where outcomes of sessions go; left out, nowhere. */
  siteReports?: OutcomeReports | undefined;
  /** Throws when this process may not inspect (any more). Called before every call that has an effect. */
  check(): void;
};

export type InspectTarget = { poolUid: string; epoch: number; browser: NewBrowser };

/** `reason`: of a browser that is retired. */
export type Corrected = { why: Correction; reason?: string };

export type InspectResult = { corrected: Corrected[] } & (
  | { is: "done" }
  /** A step is under way: inspect again after this time. */
  | { is: "later"; afterMs: number }
  /** The agent did not answer. `isImpostor`: something else answered at its address. */
  | { is: "silent"; isImpostor: boolean }
  /** The pool has another epoch in Redis. */
  | { is: "outdated" }
  /** The agent was asked under a later epoch than Redis knows. */
  | { is: "ahead"; epoch: number }
);

/** A record that changes in each of `maxSteps` steps belongs to a busy browser: inspect it again after this, ms. */
const busyMs = 1000;
const maxSteps = 5;

/** When to ask again an agent that did not take this process' token, ms. */
const unauthorizedMs = 5000;

type Step = InspectResult | "again";
type Inspection = { target: InspectTarget; deps: InspectDeps; corrected: Corrected[] };

/** Throws `unavailable` when Redis does not answer, and what `check` throws. In doubt it changes nothing. */
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
  const { record, lease, isReplicaStill, nowMs } = examined;
  const asked = diagnoseWithoutAgent(record) ? unasked : await ask(target, deps);
  // Says nothing about the browser (LEASE-55).
  if (asked === unauthorized) return { is: "later", afterMs: unauthorizedMs, corrected };
  const { agentState, isImpostor } = asked;
  reportOutcome(lease, agentState, deps.siteReports);
  if (agentState && agentState.fence.epoch > epoch) return { is: "ahead", epoch: agentState.fence.epoch, corrected };
  const elsewhere = await findElsewhere(target, lease, agentState, deps);
  const facts: Facts = { poolUid, browser, record, lease, isReplicaStill, agentState, isImpostor, elsewhere, nowMs };
  const diagnosis = diagnose(facts);
  if (diagnosis.is === "silent") return { is: "silent", isImpostor, corrected };
  if (diagnosis.is !== "end") return carryOut(diagnosis, examined, inspection);

  deps.check();
  const place = { browser: browser.id, pod: browser.pod, address: record?.address ?? browser.address };
  const next = diagnoseAfterEnd(facts, diagnosis, await deps.agents.end({ ...place, ...diagnosis.lease }, "reset"));
  return next ? carryOut(next, examined, inspection) : "again";
};

type Asked = { agentState: AgentState | undefined; isImpostor: boolean };

const unasked: Asked = { agentState: undefined, isImpostor: false };

const ask = async ({ epoch, browser }: InspectTarget, deps: InspectDeps): Promise<Asked | typeof unauthorized> => {
  deps.check();
  const place = { browser: browser.id, pod: browser.pod, address: browser.address };
  const answer = await deps.agents.state(place, epoch);
  if (answer.kind === "ok") return { agentState: answer.state, isImpostor: false };
  if (answer.kind === "refused" && answer.code === unauthorized) return unauthorized;
  return { agentState: undefined, isImpostor: answer.kind === "refused" && answer.code === notGenuine };
};

const findElsewhere = async (
  { poolUid, epoch, browser }: InspectTarget,
  lease: LeaseRecord | undefined,
  agentState: AgentState | undefined,
  { repairs, agents, check }: InspectDeps,
): Promise<Elsewhere> => {
  const held = agentState?.lease;
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

/** Epochs decide it for certain; within one epoch only the clocks of two nodes can. */
const isBefore = (there: Held, here: Held): boolean =>
  there.epoch === here.epoch ? there.bound_at < here.bound_at : there.epoch < here.epoch;

const carryOut = async (
  diagnosis: Diagnosis,
  examined: Examined,
  { target, deps, corrected }: Inspection,
): Promise<Step> => {
  if (diagnosis.is === "well") return { is: "done", corrected };
  if (diagnosis.is === "underWay") return { is: "later", afterMs: diagnosis.afterMs, corrected };
  if (diagnosis.is !== "correct") return { is: "silent", isImpostor: false, corrected };
  const { why, to } = diagnosis;
  deps.check();
  if (to.restored) await reserveName(target, to.restored, deps);
  if (!(await deps.repairs.repair(target.poolUid, examined, to))) return "again";
  if (hasEnded(examined.lease, to)) await freeName(deps.names, target.poolUid, examined.lease);
  corrected.push({ why, ...(why === "Retired" && to.record.reason && { reason: to.record.reason }) });
  // A browser that becomes suspect is diagnosed again at once.
  return why === "Suspected" ? "again" : { is: "done", corrected };
};

/** The caller of a dropped lease takes again, and keeps its name. */
const hasEnded = (lease: LeaseRecord | undefined, { former, restored }: Repair): lease is LeaseRecord =>
  lease !== undefined && former !== "kept" && former !== "dropped" && restored?.session !== lease.session;

/**
 * Reserves the name of a restored session again. When a later session has reserved it meanwhile, that session keeps it.
 */
const reserveName = async ({ poolUid }: InspectTarget, lease: LeaseRecord, { names }: InspectDeps): Promise<void> => {
  const { name, project } = requestOf(lease);
  if (name) await names.reserve(project, name, { poolUid, session: lease.session });
};
