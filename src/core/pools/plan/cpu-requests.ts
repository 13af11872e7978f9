/**
 * The part of the plan that has pods ask for more of the processor while their browsers are in use, and for less while
 * they are idle; pure. It follows the in-use mark (in-use-marks.ts), so a short lease costs no resize, either. Only pods
 * that were made with `idleCpu` say what they ask for in each state (pod/pod-resources.ts).
 */

import type { Observed, ObservedPod } from "../observe/observed.ts";
import { isMarked } from "../pod/pod.ts";
import { cpuOf, isSameAmount } from "../pod/pod-resources.ts";
import type { PoolAction } from "./actions.ts";

/** Writes of one round, as of marks. */
const resizesPerRound = 10;
const nextResizesMs = 1000;

type Resizes = { actions: (PoolAction & { do: "resize" })[]; requeueAfterMs: number };

/** What the pod should ask for and does not; undefined: nothing, or it is not tried now. */
const wanted = ({ state, pod, mayResize }: ObservedPod): string | undefined => {
  if (!mayResize || (state.is !== "known" && state.is !== "unready")) return undefined;
  const cpu = cpuOf(pod, isMarked(pod));
  return cpu && !isSameAmount(cpu.present, cpu.wanted) ? cpu.wanted : undefined;
};

/** `otherwiseMs`: the time to the next round if nothing is left for it. */
export const resizes = ({ pods }: Observed, otherwiseMs: number): Resizes => {
  const due = pods.flatMap((pod) => {
    const cpu = wanted(pod);
    return cpu === undefined ? [] : [{ do: "resize" as const, pod, cpu }];
  });
  return {
    actions: due.slice(0, resizesPerRound),
    requeueAfterMs: due.length > resizesPerRound ? nextResizesMs : otherwiseMs,
  };
};
