import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { checkHistory, type Finding } from "./checks/all-checks.ts";
import type { HistoryEvent } from "./history/history.ts";
import { checkLinearizable } from "./linearizability/check-linearizable.ts";

/** `undecided`: pools on which the search for an order came to no end in its time. */
type HistoryFindings = { findings: Finding[]; undecided: number };

/**
 * What can be said of a history that broke off: that a safety check was violated before. Limits of time say nothing
 * there, and neither does the search for an order of operations that have no end. What is later than the last word of
 * an agent is left out: what agents did then was not read any more.
 */
export const checkBrokenOff = (events: HistoryEvent[]): Finding[] => {
  const toldMs = events.reduce((latest, { kind, at }) => (kind === "agent" ? Math.max(latest, at) : latest), 0);
  return checkHistory(events.filter(({ at }) => at <= toldMs)).filter(({ kind }) => kind === "safety");
};

/** Everything that can be said of one history on this machine. Rejects when the program for linearizability fails. */
export const checkWholeHistory = async (events: HistoryEvent[]): Promise<HistoryFindings> => {
  const program = locatePrograms(process.env).linearizability;
  const { findings, undecided } = program ? await checkLinearizable(program, events) : { findings: [], undecided: 0 };
  return { findings: [...checkHistory(events), ...findings], undecided };
};
