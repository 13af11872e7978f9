import type { HistoryEvent } from "../history/history.ts";

/**
 * What a violation says of the product:
 *
 *   safety   the product did what it must never do. No load of the machine excuses it, so the run fails at once
 *   timing   something took longer than its limit, which a machine under load can cause alone. The unattended run repeats
 *            that history once, from the same seed, and fails when anything is found again
 */
export type CheckKind = "safety" | "timing";

/** A broken promise. `events`: those that prove it, in the order of time. `kind`: where it is not that of the check. */
export type Violation = { what: string; events: HistoryEvent[]; kind?: CheckKind };

/** An exact check over a whole history: pure, and silent when the history does not hold what it would need. */
export type Check = {
  name: string;
  /** Of its violations, unless one says otherwise. */
  kind: CheckKind;
  /** What it holds the service to. */
  promise: string;
  find(events: HistoryEvent[]): Violation[];
};
