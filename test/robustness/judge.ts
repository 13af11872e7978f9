import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { checkHistory, type Finding } from "./checks/all-checks.ts";
import type { HistoryEvent } from "./history/history.ts";
import { checkLinearizable } from "./linearizability/check-linearizable.ts";

/** `undecided`: pools on which the search for an order came to no end in its time. */
export type Judgement = { findings: Finding[]; undecided: number };

/** Everything that can be said of one history. Rejects when the program for linearizability is missing or fails. */
export const judgeHistory = async (events: HistoryEvent[]): Promise<Judgement> => {
  const program = locatePrograms(process.env).linearizability;
  if (!program) throw new Error("the program for linearizability is missing: run node scripts/setup.mjs --robustness");
  const { findings, undecided } = await checkLinearizable(program, events);
  return { findings: [...checkHistory(events), ...findings], undecided };
};
