/** What of a run may be done once more: phases in which nothing failed but that a time was over. */
import type { Outcome, PhaseOutcome } from "./report.ts";

/** What passed at its second try only. `firstError`: how it failed before. */
export type Unsteady = { name: string; firstError: string };

const failuresIn = ({ checks, ...phase }: PhaseOutcome): Outcome[] =>
  [...checks, phase].filter(({ error }) => error !== undefined);

/** The phases that are worth a second try; none when the run fails anyway. */
export const phasesToRepeat = (phases: PhaseOutcome[]): PhaseOutcome[] => {
  const isHopeless = phases.flatMap(failuresIn).some((failure) => !failure.isTimeOver);
  return isHopeless ? [] : phases.filter((phase) => failuresIn(phase).length > 0);
};

/** Of the phases in `before`, those that have passed by now. */
export const unsteadyIn = (before: PhaseOutcome[], now: PhaseOutcome[]): Unsteady[] =>
  before
    .filter(({ name }) => now.some((phase) => phase.name === name && failuresIn(phase).length === 0))
    .flatMap((phase) =>
      failuresIn(phase).map(({ name, error = "" }) => ({
        name: `cluster: ${phase.name}${name === phase.name ? "" : `: ${name}`}`,
        firstError: error,
      })),
    );
