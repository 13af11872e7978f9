import type { HistoryEvent } from "../history/history.ts";

/** A broken promise. `events`: those that prove it, in the order of time. */
export type Violation = { what: string; events: HistoryEvent[] };

/** An exact check over a whole history: pure, and silent when the history does not hold what it would need. */
export type Check = {
  name: string;
  /** What it holds the service to. */
  promise: string;
  find(events: HistoryEvent[]): Violation[];
};
