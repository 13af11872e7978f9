/**
 * One history, from its pools to its end:
 *
 *   pools full ──► load begins ──► faults, in waves ──► faults over ──► the load goes on a little ──► load over
 *     ──► at rest (or not in time) ──► quiet time ──► end ──► pools deleted
 *
 * One that breaks off is closed with what its agents and processes have told by then, so that it can be checked.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startClients } from "./clients.ts";
import { findUnrest, readFinalState } from "./final-state.ts";
import { monotonicMs } from "./history/event-base.ts";
import type { EventOf } from "./history/history.ts";
import { injectFaults } from "./inject-faults.ts";
import { createPools, type Pools } from "./pools.ts";
import { observeQuietTime } from "./quiet-time.ts";
import { randomOf } from "./random.ts";
import { grownLines } from "./recorder/grown-lines.ts";
import { startLeaseStreams } from "./recorder/lease-streams.ts";
import { startPodWatch } from "./recorder/pod-watch.ts";
import { createProcessRecords, type ProcessRecords } from "./recorder/process-records.ts";
import type { Recorder } from "./recorder/recorder.ts";
import { type PlanOptions, planHistory } from "./schedule.ts";
import type { Topology } from "./topology.ts";

type HistoryOptions = PlanOptions & { seed: number; bug?: string | undefined; file: string };

/** `unrest`: what was not as it should be when the time for that was over. */
type HistoryRun = { file: string; unrest: string[] };

/** How long the load goes on after the last fault, ms: long enough in some to see that everybody is served again. */
const afterFaultsMs = [3000, 3000, 14_000];

/** Until everything must be at rest, ms. */
const restWithinMs = 30_000;

/**
 * How long the end of a history waits for that, ms. `comes-to-rest` finds what is later than it must be; what is read
 * after this long time is lost, not late.
 */
const settledWithinMs = 120_000;
const lookEveryMs = 250;

/** Longest life of a history's faults beyond the load, ms; a fault that hangs is an error of the run. */
const faultGraceMs = 120_000;

/** Beyond its load a history takes this long at most, ms; one that takes longer hangs. */
const graceMs = 7 * 60_000;

const inTime = async <T>(work: Promise<T>, withinMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("a history did not come to its end")), withinMs);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
};

/** Asks until nothing is unrestful; what is still so after `withinMs`. */
const whenAtRest = async (pools: Pools, topology: Topology, withinMs: number): Promise<string[]> => {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const unrest = await findUnrest(pools.list(), topology).catch((error: unknown) => [String(error)]);
    if (unrest.length === 0 || performance.now() > deadlineMs) return unrest;
    await sleep(lookEveryMs);
  }
};

type Parts = { topology: Topology; recorder: Recorder };
type Logs = { processes: ProcessRecords; noteAgents: () => Promise<void> };

const carryOut = async (
  { seed, bug, file, ...planned }: HistoryOptions,
  { topology, recorder }: Parts,
  { processes, noteAgents }: Logs,
): Promise<HistoryRun> => {
  const random = randomOf(seed);
  const plan = planHistory(random.fork("plan"), planned);
  const mark = (name: EventOf<"mark">["mark"]): void => recorder.write({ kind: "mark", at: monotonicMs(), mark: name });
  recorder.write({
    kind: "history",
    at: monotonicMs(),
    version: 1,
    seed,
    faults: [...new Set(plan.faults.map(({ fault }) => fault))],
    ...(bug !== undefined && { bug }),
    startedAt: new Date().toISOString(),
  });
  await processes.sample();
  await using watching = new AsyncDisposableStack();
  const streams = startLeaseStreams({ redis: topology.redis, recorder });
  const podWatch = await startPodWatch(topology, recorder);
  watching.defer(podWatch.stop);
  const pools = createPools(topology, recorder, streams.follow);
  await Promise.all(plan.pools.map((pool) => pools.create(pool)));
  await whenAtRest(pools, topology, restWithinMs);

  mark("load-begin");
  const clients = startClients({ count: plan.clients, topology, pools, random: random.fork("clients"), recorder });
  const faults = injectFaults(plan.faults, {
    topology,
    pools,
    random: random.fork("faults"),
    recorder,
    signal: AbortSignal.timeout(plan.loadMs + faultGraceMs),
  });
  await Promise.all([faults, sleep(plan.loadMs)]).finally(() => mark("faults-over"));
  await sleep(random.fork("after").pick(afterFaultsMs));
  await clients.stop();
  mark("load-over");

  // A product with a bug may never come to rest.
  const unrest = await whenAtRest(pools, topology, bug === undefined ? settledWithinMs : restWithinMs);
  if (unrest.length === 0) mark("converged");
  mark("quiet-begin");
  const quiet = await observeQuietTime(topology);
  mark("quiet-end");
  await processes.sample();
  await processes.noteFailures();
  await streams.stop();
  await noteAgents();
  const final = await readFinalState(pools.list(), topology);
  recorder.write({ kind: "end", at: monotonicMs(), pools: final, quiet });
  await recorder.close();
  // A product with a bug may never clear up, and its topology ends with this history.
  if (bug !== undefined) return { file, unrest };

  await Promise.all(
    pools
      .list()
      .slice()
      .map((pool) => pools.remove(pool)),
  );
  const left = await whenAtRest(pools, topology, restWithinMs);
  return { file, unrest: [...unrest, ...left] };
};

/** Rejects when a part of the run itself fails or hangs; `file` then holds what was seen until that moment. */
export const runHistory = async (
  options: HistoryOptions,
  topology: Topology,
  recorder: Recorder,
): Promise<HistoryRun> => {
  const agentEvents = grownLines(topology.agentEventsFile);
  const processes = createProcessRecords([...topology.apis, ...topology.operators], recorder);
  const noteAgents = async (): Promise<void> => {
    for (const line of await agentEvents()) recorder.write(JSON.parse(line));
  };
  await agentEvents();
  await processes.noteFailures();
  recorder.open(options.file);
  try {
    const work = carryOut(options, { topology, recorder }, { processes, noteAgents });
    return await inTime(work, options.loadMs + graceMs);
  } catch (error) {
    await Promise.allSettled([noteAgents(), processes.noteFailures()]);
    throw error;
  } finally {
    await recorder.close();
  }
};
