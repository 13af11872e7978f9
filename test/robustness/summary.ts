/** What a run tells: a line for each history, a table and the way to repeat a failure, and the same as JSON. */
import type { HistoryResult } from "./run-histories.ts";
import type { Outcome, Unsteady } from "./second-try.ts";

type RunSummary = {
  histories: number;
  acquires: number;
  held: number;
  /** How often each kind of fault was caused. */
  faults: Record<string, number>;
  /** How often each check found something that fails the run. */
  violations: Record<string, number>;
  /** Pools on which the search for an order of all operations came to no end. */
  undecided: number;
  failedSeeds: number[];
  /** What passed at its second try only. */
  unsteady: Unsteady[];
  seconds: number;
};

const countBy = (names: string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

const sum = (results: HistoryResult[], of: (result: HistoryResult) => number): number =>
  results.reduce((total, result) => total + of(result), 0);

export const summarize = ({ results, failed, growth, unsteady }: Outcome, seconds: number): RunSummary => ({
  histories: results.length,
  acquires: sum(results, ({ acquires }) => acquires),
  held: sum(results, ({ held }) => held),
  faults: countBy(results.flatMap(({ faults }) => faults)),
  violations: countBy([...failed.flatMap(({ findings }) => findings), ...growth].map(({ check }) => check)),
  undecided: sum(results, ({ undecided }) => undecided),
  failedSeeds: failed.map(({ seed }) => seed),
  unsteady,
  seconds,
});

/** One line for a history that is over. */
export const progressLine = ({ seed, acquires, held, faults, seconds, findings }: HistoryResult): string => {
  const unsafe = findings.filter(({ kind }) => kind === "safety").length;
  const verdict = findings.length === 0 ? "ok" : `${findings.length} VIOLATIONS, ${unsafe} of safety`;
  const what = faults.length === 0 ? "no faults" : faults.join(" ");
  return `seed ${seed}  ${acquires} acquires, ${held} held  ${seconds.toFixed(0)} s  ${verdict}  [${what}]`;
};

/** What was found in a history, and how to look at it again. `command`: what repeats the history. */
export const failureText = ({ seed, findings, folder }: HistoryResult, command: string): string =>
  [
    `seed ${seed} breaks ${[...new Set(findings.map(({ check }) => check))].join(", ")}:`,
    ...findings.slice(0, 10).map(({ check, kind, what }) => `  ${check} (${kind}): ${what}`),
    ...(findings.length > 10 ? [`  and ${findings.length - 10} more`] : []),
    `  kept in ${folder}: history.jsonl, timeline.txt, findings.txt, logs`,
    `  check again:  npm run test:robustness -- --replay ${folder}/history.jsonl`,
    `  run again:    ${command}`,
  ].join("\n");

const table = (title: string, counts: Record<string, number>): string[] => {
  const entries = Object.entries(counts);
  if (entries.length === 0) return [`${title}: none`];
  const width = Math.max(...entries.map(([name]) => name.length));
  return [`${title}:`, ...entries.map(([name, count]) => `  ${name.padEnd(width)}  ${count}`)];
};

export const summaryText = (summary: RunSummary): string =>
  [
    ...table("faults", summary.faults),
    ...table("violations", summary.violations),
    ...(summary.undecided > 0 ? [`linearizable: no verdict in time on ${summary.undecided} pools`] : []),
    `${summary.histories} histories, ${summary.acquires} acquires, ${summary.held} held, ${summary.seconds.toFixed(0)} s`,
  ].join("\n");
