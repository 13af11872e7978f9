import type { KubeObject } from "../kube/objects.ts";
import type { Condition } from "../resources/conditions.ts";

/** A condition before it is compared with the one that the object has. */
export type Draft = { type: string; status: boolean; reason: string; message: string };

type WithStatus = KubeObject & { status?: { conditions: Condition[] } | undefined };

/**
 * The conditions of an object; pure. The time of a condition is kept until its status changes, so that equal drafts give
 * equal conditions and nothing is written. `nowMs`: since the epoch.
 */
export const conditionsOf = (object: WithStatus, drafts: Draft[], nowMs: number): Condition[] =>
  drafts.map(({ type, status, reason, message }) => {
    const text = status ? "True" : "False";
    const before = object.status?.conditions.find((known) => known.type === type);
    const lastTransitionTime =
      before?.status === text ? before.lastTransitionTime : new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
    const observedGeneration = object.metadata.generation ?? 0;
    return { type, status: text, reason, message, lastTransitionTime, observedGeneration };
  });

/** Whether an object has what it claims; `taken`: what it claims and another, older object has. */
export const acceptedDraft = (taken?: { reason: string; message: string }): Draft =>
  taken
    ? { type: "Accepted", status: false, ...taken }
    : { type: "Accepted", status: true, reason: "Accepted", message: "the object is in force" };
