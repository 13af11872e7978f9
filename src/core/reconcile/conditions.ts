import type { Condition } from "../../platform/kinds/conditions.ts";
import { joinPath } from "../../platform/kinds/wire.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import type { SpecProblem } from "../../platform/rules/problem.ts";

/** A condition without its times, before it is compared with the object's present one. */
export type Draft = { type: string; status: boolean; reason: string; message: string };

type WithStatus = KubeObject & { status?: { conditions: Condition[] } | undefined };

/**
 * Makes the conditions of an object; pure. A condition keeps its `lastTransitionTime` until its status changes, so
 * equal drafts give equal conditions and cause no write. `nowMs`: since the epoch.
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
