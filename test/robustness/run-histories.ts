/**
 * Histories one after the other on one topology, each checked when it is over; what is found is kept with all that
 * proves it.
 */
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkBrokenOff, checkWholeHistory } from "./check-whole-history.ts";
import type { Finding } from "./checks/all-checks.ts";
import { findGrowth } from "./checks/no-growth.ts";
import type { FaultName } from "./faults/all-faults.ts";
import { type EventOf, type HistoryEvent, ofKind, readHistory } from "./history/history.ts";
import { createRecorder } from "./recorder/recorder.ts";
import { runHistory } from "./run-history.ts";
import type { PlanOptions } from "./schedule.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { timelineOf } from "./timeline.ts";
import type { RedisKind } from "./topology/redis-host.ts";
import { startTopology, type Topology, type TopologyOptions } from "./topology.ts";

/** `redis`: left out, a single server. */
export type HistoryRequest = PlanOptions & { seed: number; redis?: RedisKind };

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

type RunOptions = Omit<TopologyOptions, "recorder" | "redis"> & {
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
  unrest.length === 0
    ? []
    : [{ check: "at-rest", kind: "timing", what: `not at rest in time: ${unrest.join("; ")}`, events: [] }];

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

/**
 * A part of the run itself failed: something could not be started, a fault not be caused, a history not be ended. What
 * that history holds is kept, and `result` has the violations of safety checks in it.
 */
export class BrokenOff extends Error {
  override name = "BrokenOff";
  readonly result: HistoryResult;
  constructor(result: HistoryResult, cause: unknown) {
    super(`the history of seed ${result.seed} broke off`, { cause });
    this.result = result;
  }
}

/** What a run of histories found. `growth`: of all of them together. */
export type RunResults = { results: HistoryResult[]; growth: Finding[] };

/** Requests in a row that need the same kind of Redis, and so can share a topology. */
const byTopology = (requests: HistoryRequest[]): HistoryRequest[][] => {
  const groups: HistoryRequest[][] = [];
  for (const request of requests) {
    const last = groups.at(-1);
    if (last && last[0]?.redis === request.redis) last.push(request);
    else groups.push([request]);
  }
  return groups;
};

/** Runs histories that need the same topology. `samples`: takes those of the processes. */
const runOnOne = async (
  requests: HistoryRequest[],
  { keepFolder, onHistory, signal, ...topologyOptions }: RunOptions,
  samples: EventOf<"process">[],
): Promise<HistoryResult[]> => {
  const recorder = createRecorder();
  await using parts = new AsyncDisposableStack();
  const { path: scratch } = parts.use(await makeScratchFolder("browserpool-histories"));
  const topology = await startTopology({ ...topologyOptions, redis: requests[0]?.redis, recorder });
  parts.defer(topology.stop);
  const results: HistoryResult[] = [];
  for (const [index, request] of requests.entries()) {
    if (signal.aborted) break;
    const startMs = performance.now();
    const file = join(scratch, `${index}.jsonl`);
    const resultOf = (events: HistoryEvent[], findings: Finding[], undecided = 0): HistoryResult => {
      const seconds = (performance.now() - startMs) / 1000;
      return { seed: request.seed, ...countOf(events), seconds, findings, undecided };
    };
    const breakOff = async (cause: unknown): Promise<never> => {
      const events = await readHistory(file);
      const result = resultOf(events, checkBrokenOff(events));
      throw new BrokenOff({ ...result, folder: await keep(result, { file, events, topology, keepFolder }) }, cause);
    };
    const { unrest } = await runHistory({ ...request, bug: topologyOptions.bug, file }, topology, recorder).catch(
      breakOff,
    );
    const events = await readHistory(file);
    if (countOf(events).held === 0) await breakOff(new Error("nobody was served, so there is nothing to check"));
    samples.push(...ofKind(events, "process").filter(({ what }) => what === "sample"));
    const { findings, undecided } = await checkWholeHistory(events);
    const result = resultOf(events, [...findings, ...unrestFinding(unrest)], undecided);
    if (result.findings.length > 0) result.folder = await keep(result, { file, events, topology, keepFolder });
    await rm(file, { force: true });
    results.push(result);
    onHistory(result);
  }
  return results;
};

/**
 * Runs them all; rejects when a part of the run itself fails, with a `BrokenOff` when it fails within a history. The
 * samples of all histories are looked at together in the end.
 */
export const runHistories = async (requests: HistoryRequest[], options: RunOptions): Promise<RunResults> => {
  const results: HistoryResult[] = [];
  const samples: EventOf<"process">[] = [];
  for (const group of byTopology(requests)) {
    if (options.signal.aborted) break;
    results.push(...(await runOnOne(group, options, samples)));
  }
  const growth = findGrowth(samples).map(
    (violation): Finding => ({ ...violation, check: "no-growth", kind: "timing" }),
  );
  return { results, growth };
};
