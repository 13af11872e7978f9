/** The part of the plan that tells about the size of an autoscaled pool; pure. decide-size.ts decides on it. */
import type { SizeReason } from "../../model/pools/autoscale/decide-size.ts";
import type { Draft } from "../../reconcile/conditions.ts";
import type { Observed } from "../observe/observed.ts";
import type { PoolAction } from "./actions.ts";

/** Numbers that change with the demand are not in these texts: each change of a condition is a write. */
const why: Record<SizeReason, string> = {
  Demand: "the size is what callers and the buffer want",
  AtMin: "callers and the buffer want less; the size is min",
  AtMax: "callers and the buffer want more; the size is max",
  ScaleDownStabilized: "less is wanted now; the size falls to the highest that was wanted in scaleDownAfterSeconds",
  PooledSessionsLimit: "more is wanted; the organization's limit of pooled sessions leaves no room",
  SessionsLimit: "more is wanted; the project's limit of sessions leaves no room",
};

const held: ReadonlySet<SizeReason> = new Set(["AtMax", "PooledSessionsLimit", "SessionsLimit"]);

/**
 * The condition `ScalingLimited`, whose reason says also otherwise where the size comes from; none without `autoscale`.
 */
export const scalingDrafts = ({ scaling }: Pick<Observed, "scaling">): Draft[] =>
  scaling
    ? [
        {
          type: "ScalingLimited",
          status: held.has(scaling.reason),
          reason: scaling.reason,
          message: why[scaling.reason],
        },
      ]
    : [];

/** The Event of a new size. */
export const scalingEvents = ({ scaling }: Pick<Observed, "scaling">): PoolAction[] => {
  if (!scaling?.resized) return [];
  const { from, to } = scaling.resized;
  const note = `the size goes from ${from} to ${to}: ${why[scaling.reason]}`;
  return [{ do: "note", type: "Normal", reason: "Rescaled", note }];
};
