/**
 * Runs one target in a thread of its own, so that one that hangs or eats the memory is a finding and not the end of the
 * run.
 */
import { Worker } from "node:worker_threads";
import { inputOf } from "./cases.ts";
import { type Finding, type FindingKind, inputText } from "./finding.ts";
import type { Order, Progress, Told } from "./order.ts";
import type { AnyTarget } from "./target.ts";

/** Largest heap of a target's thread, MB. */
const maxHeapMegabytes = 1024;

/** A case that has not ended after this time hangs, ms: on a loaded machine the slowest one takes some seconds. */
const usualHangMs = 60_000;

/** Nothing has begun yet: the thread loads its modules, for which a loaded machine takes as long as for some cases. */
const notBegun = -1;
const loadPatience = 5;

/** Time between two looks at which case runs, ms. */
const lookMs = 500;

/** With it Node ends a thread that awaits something, and has nothing to do. */
const unsettledCode = 13;

export type TargetResult = {
  target: string;
  seed: number;
  cases: number;
  ms: number;
  /** Time of processors, which others do not lengthen. */
  processorMs: number;
  longestMs: number;
  findings: Finding[];
  /** It broke off: not all cases were made. */
  isBrokenOff: boolean;
};

export type RunTargetOptions = Pick<Order, "target" | "module" | "seed" | "cases" | "seconds" | "only"> & {
  signal: AbortSignal;
  onProgress?(progress: Progress, ms: number): void;
  onFinding?(finding: Finding): void;
  hangMs?: number;
};

/** Calls `onHang` when the same case runs for too long. Returns what ends the watch. */
const watchCases = (running: Int32Array, hangMs: number, onHang: () => void): (() => void) => {
  let last = { number: notBegun, sinceMs: performance.now() };
  const timer = setInterval(() => {
    const number = Atomics.load(running, 0);
    if (number !== last.number) last = { number, sinceMs: performance.now() };
    else if (performance.now() - last.sinceMs > (number === notBegun ? loadPatience : 1) * hangMs) onHang();
  }, lookMs);
  return () => clearInterval(timer);
};

/** Runs until all cases are made, the time is over, `signal` is aborted, or the thread has ended. */
export const runTarget = async (options: RunTargetOptions): Promise<TargetResult> => {
  const { target, module, seed, cases, seconds, only, signal, hangMs = usualHangMs } = options;
  const shared = new SharedArrayBuffer(4);
  const running = new Int32Array(shared).fill(notBegun);
  const workerData: Order = { target, module, seed, cases, seconds, only, running: shared };
  const startMs = performance.now();
  const startUsage = process.cpuUsage();
  const result: TargetResult = {
    target,
    seed,
    cases: 0,
    ms: 0,
    processorMs: 0,
    longestMs: 0,
    findings: [],
    isBrokenOff: true,
  };
  const note = (finding: Finding): void => {
    result.findings.push(finding);
    options.onFinding?.(finding);
  };
  const thread = new Worker(new URL("fuzz-thread.ts", import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes },
  });
  const over = Promise.withResolvers<void>();
  /** The thread can't say what its case was. */
  const noteLast = async (kind: FindingKind, error: string): Promise<void> => {
    const number = only ?? Math.max(0, Atomics.load(running, 0));
    const { target: known } = (await import(module)) as { target: AnyTarget };
    note({ target, seed, number, kind, error, input: inputText(inputOf(known.inputs, seed, number)) });
  };
  let last = Promise.resolve();
  const stopWatching = watchCases(running, hangMs, () => {
    stopWatching();
    last = noteLast("hangs", `the case had not ended after ${hangMs / 1000} s`);
    void thread.terminate();
  });
  thread.on("message", (told: Told) => {
    if ("finding" in told) return note(told.finding);
    const progress = "done" in told ? told.done : told.progress;
    Object.assign(result, progress, { isBrokenOff: !("done" in told) });
    if ("progress" in told) options.onProgress?.(progress, performance.now() - startMs);
  });
  thread.once("error", (error) => {
    last = noteLast("ends the process", String(error));
  });
  let isStopped = false;
  thread.once("exit", (code) => {
    // What can't go on any more, since nothing is under way that it could wait for.
    if (code === unsettledCode && !isStopped) last = noteLast("hangs", "the case waits for what never comes");
    over.resolve();
  });
  const stop = (): void => {
    isStopped = true;
    void thread.terminate();
  };
  signal.addEventListener("abort", stop);
  await over.promise;
  stopWatching();
  signal.removeEventListener("abort", stop);
  await last;
  const { user, system } = process.cpuUsage(startUsage);
  return { ...result, ms: performance.now() - startMs, processorMs: (user + system) / 1000 };
};
