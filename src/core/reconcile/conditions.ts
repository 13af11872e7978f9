import type { Condition } from "../../platform/kinds/conditions.ts";
import { joinPath } from "../../platform/kinds/wire.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import type { SpecProblem } from "../../platform/rules/problem.ts";

/** What kstatus reads beside Ready (GITOPS-1, GITOPS-2): a condition that is there only while it is True. */
type Outlook = "Reconciling" | "Stalled";

/** A condition without its times, before it is compared with the object's present one. */
export type Draft = {
  type: string;
  status: boolean;
  reason: string;
  message: string;
  /** Of a Ready that is False: whether it becomes True by itself, or never without a change; else others decide. */
  outlook?: Outlook | undefined;
};

type WithStatus = KubeObject & { status?: { conditions: Condition[] } | undefined };

/** The Ready of a refused object; its message may say more than that of Accepted (POOL-31). */
const refusedReady = ({ message }: Draft, accepted: Draft): Draft => ({
  ...accepted,
  type: "Ready",
  message: message.startsWith(accepted.message) ? message : accepted.message,
});

const outlookDrafts = (ready: Draft | undefined): Draft[] =>
  ready?.outlook && !ready.status ? [{ ...ready, type: ready.outlook, status: true }] : [];

/** What is the same for every kind, whatever its drafts say. Of a deleted object kstatus looks at nothing else. */
const withOutlook = ({ metadata: { deletionTimestamp } }: KubeObject, drafts: Draft[]): Draft[] => {
  const accepted = drafts.find(({ type }) => type === "Accepted");
  const ready = drafts.find(({ type }) => type === "Ready");
  if (accepted?.status !== false) return deletionTimestamp ? drafts : [...drafts, ...outlookDrafts(ready)];
  if (deletionTimestamp && ready?.status === false) return drafts;
  const told = drafts.map((draft) => (draft === ready ? refusedReady(draft, accepted) : draft));
  return deletionTimestamp ? told : [...told, { ...accepted, type: "Stalled", status: true }];
};

/**
 * Makes the conditions of an object; pure. `drafts`: Accepted where the kind has it, Ready, and others. Of a refused
 * object Ready is False and Stalled is True, as Accepted says. A condition keeps its `lastTransitionTime` until its
 * status changes, so equal drafts give equal conditions and cause no write. `nowMs`: since the epoch.
 */
export const conditionsOf = (object: WithStatus, drafts: Draft[], nowMs: number): Condition[] =>
  withOutlook(object, drafts).map(({ type, status, reason, message }) => {
    const text = status ? "True" : "False";
    const before = object.status?.conditions.find((known) => known.type === type);
    const lastTransitionTime =
      before?.status === text ? before.lastTransitionTime : new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
    const observedGeneration = object.metadata.generation ?? 0;
    return { type, status: text, reason, message, lastTransitionTime, observedGeneration };
  });

/** The `Accepted` condition. `refusal`: e.g. an older object already has the name or key that this object claims. */
export const acceptedDraft = (refusal?: { reason: string; message: string }): Draft =>
  refusal
    ? { type: "Accepted", status: false, ...refusal }
    : { type: "Accepted", status: true, reason: "Accepted", message: "the object is in force" };

/** Problems of a spec as one text, each with its place; empty without any. */
export const specProblemsText = (problems: readonly SpecProblem[]): string =>
  problems.map(({ path, message }) => `spec.${joinPath(path)}: ${message}`).join("; ");

/** Why an object with settings that this installation can't carry out is not accepted (HTTP-30). */
export const notSupportedHere = (problems: SpecProblem[]): { reason: "NotSupportedHere"; message: string } => ({
  reason: "NotSupportedHere",
  message: specProblemsText(problems),
});
