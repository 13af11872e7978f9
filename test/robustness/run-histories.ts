/** Histories one after the other on one topology, each checked when it is over; what is found is kept with all that proves it. */
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Finding } from "./checks/all-checks.ts";
import { findGrowth } from "./checks/no-growth.ts";
import type { FaultName } from "./faults/all-faults.ts";
import { type EventOf, type HistoryEvent, ofKind, readHistory } from "./history/history.ts";
import { judgeHistory } from "./judge.ts";
import { createRecorder } from "./recorder/recorder.ts";
import { runHistory } from "./run-history.ts";
import type { PlanOptions } from "./schedule.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { timelineOf } from "./timeline.ts";
import { startTopology, type Topology, type TopologyOptions } from "./topology.ts";

export type HistoryWish = PlanOptions & { seed: number };

export type HistoryResult = {
  seed: number;
  /** As planned; the summary counts them. */
  faults: string[];
  acquires: number;
  held: number;
  seconds: number;
  findings: Finding[];
  /** Pools on which the search for an order of all operations came to no end. */
  undecided: number;
  /** Where the history, the logs and the findings are kept when there are any. */
  folder?: string;
};

export type RunOptions = Omit<TopologyOptions, "recorder"> & {
  /** For what is kept. */
  keepFolder: string;
  onHistory: (result: HistoryResult) => void;
  /** Ends the run after the history that is under way. */
  signal: AbortSignal;
};

const countOf = (events: HistoryEvent[]) => {
  const acquires = ofKind(events, "call").filter(({ op }) => op === "acquire").length;
  const held = ofKind(events, "return").filter(({ op, outcome }) => op === "acquire" && outcome === "held").length;
  const begun = ofKind(events, "fault").filter(({ phase }) => phase === "begin");
  return { acquires, held, faults: begun.map(({ fault }) => fault as FaultName) };
};

/** Unrest is found by the checks too, as far as they know of it; what is left after the end only here. */
const unrestFinding = (unrest: string[]): Finding[] =>
  unrest.length === 0 ? [] : [{ check: "at-rest", what: `not at rest in time: ${unrest.join("; ")}`, events: [] }];

/** `what` went wrong, readable, with the events that prove it. */
const describe = ({ check, what, events }: Finding): string =>
  [`${check}: ${what}`, ...events.map((event) => `    ${JSON.stringify(event)}`)].join("\n");

type Kept = { file: string; events: HistoryEvent[]; topology: Topology; keepFolder: string };

const keep = async (result: HistoryResult, { file, events, topology, keepFolder }: Kept): Promise<string> => {
  const folder = join(keepFolder, `seed-${result.seed}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(file, join(folder, "history.jsonl"));
  await cp(topology.logFolder, join(folder, "logs"), { recursive: true });
  await writeFile(join(folder, "findings.txt"), `${result.findings.map(describe).join("\n\n")}\n`);
  await writeFile(join(folder, "timeline.txt"), `${timelineOf(events, result.findings)}\n`);
  return folder;
};

/** Beyond its load a history takes this long at most, ms; one that takes longer hangs. */
const graceMs = 5 * 60_000;

const inTime = async <T>(work: Promise<T>, withinMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("a history did not come to its end")), withinMs);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
};

/** Runs them all; rejects when a part of the run itself fails. The samples of all histories are looked at together in the end. */
export const runHistories = async (
  wishes: HistoryWish[],
  { keepFolder, onHistory, signal, ...topologyOptions }: RunOptions,
): Promise<{ results: HistoryResult[]; growth: Finding[] }> => {
  const recorder = createRecorder();
  await using parts = new AsyncDisposableStack();
  const { path: scratch } = parts.use(await makeScratchFolder("browserpool-histories"));
  const topology = await startTopology({ ...topologyOptions, recorder });
  parts.defer(topology.stop);
  const results: HistoryResult[] = [];
  const samples: EventOf<"process">[] = [];
  for (const [index, wish] of wishes.entries()) {
    if (signal.aborted) break;
    const startMs = performance.now();
    const file = join(scratch, `${index}.jsonl`);
    const { unrest } = await inTime(
      runHistory({ ...wish, bug: topologyOptions.bug, file }, topology, recorder),
      wish.loadMs + graceMs,
    );
    const events = await readHistory(file);
    samples.push(...ofKind(events, "process").filter(({ what }) => what === "sample"));
    const judged = await judgeHistory(events);
    const findings = [...judged.findings, ...unrestFinding(unrest)];
    const seconds = (performance.now() - startMs) / 1000;
    const { undecided } = judged;
    const result: HistoryResult = { seed: wish.seed, ...countOf(events), seconds, findings, undecided };
    if (findings.length > 0) result.folder = await keep(result, { file, events, topology, keepFolder });
    await rm(file, { force: true });
    results.push(result);
    onHistory(result);
  }
  const growth = findGrowth(samples).map((violation) => ({ ...violation, check: "no-growth" }));
  return { results, growth };
};
