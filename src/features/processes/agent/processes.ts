/**
 * The processes of one lease:
 *
 *   start ──► running ──┬── it ends, is killed, takes too long or too much memory ──► exited, with its last output
 *                       └── the lease ends: gone
 *
 * Those that have ended are kept until newer ones take their place.
 */
import { randomUUID } from "node:crypto";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { type MindedProcess, type ProcessOrder, startProcess } from "./minded-process.ts";
import { createOutputRing, type OutputRing, type OutputStream } from "./output-ring.ts";
import type { ProcessCommand } from "./process-command.ts";
import { usageOf } from "./usage.ts";

/** Processes of a session at once, and of those that have ended what is kept. */
const mostRunning = 8;
const mostEnded = 16;

/** Memory that a process may use with all that it has started, and how often that is looked at. */
const mostBytes = 1024 ** 3;
const lookMs = 250;

type Kept = {
  id: string;
  process: MindedProcess;
  startedAt: Date;
  ring: OutputRing;
  hasTty: boolean;
  exitCode: number | undefined;
};

/** A process that runs. */
type Running = { process: MindedProcess; isLate(): boolean };

/** `seconds`: its longest time. `onOutput`: takes what it writes. */
type Limits = { seconds: number | undefined; hasInput: boolean; onOutput(stream: OutputStream, bytes: Buffer): void };

export type Processes = {
  /** Starts one that nobody asks after. Throws a `CallRefused`. */
  start(order: ProcessOrder, limits: Limits): Promise<Running>;
  /** Starts one that is kept. Throws a `CallRefused`. */
  spawn(order: ProcessOrder, seconds: number | undefined): Promise<Kept>;
  /** Throws a `CallRefused` for one that there is not. */
  find(id: string): Kept;
  /** One that runs. Throws a `CallRefused`. */
  findRunning(id: string): Kept;
  read(id: string): OutputRing["read"] | undefined;
  usage(kept: Kept): { cpuPct: number; memBytes: number };
};

/** `signal`: aborted at the end of the lease. */
export const createProcesses = (command: ProcessCommand, signal: AbortSignal): Processes => {
  const running = new Set<MindedProcess>();
  const kept = new Map<string, Kept>();
  let starting = 0;
  let watch: NodeJS.Timeout | undefined;

  const look = (): void => {
    const usages = usageOf([...running].map(({ group }) => group));
    for (const one of running) if ((usages.get(one.group)?.memBytes ?? 0) > mostBytes) one.end();
  };
  const enter = (one: MindedProcess): void => {
    running.add(one);
    watch ??= setInterval(look, lookMs);
    void one.ended.then(() => {
      running.delete(one);
      if (running.size > 0) return;
      clearInterval(watch);
      watch = undefined;
    });
  };
  signal.addEventListener("abort", () => {
    for (const { ring } of kept.values()) ring.close();
  });

  const start: Processes["start"] = async (order, { seconds, hasInput, onOutput }) => {
    if (running.size + starting >= mostRunning)
      throw new CallRefused("conflict", `${mostRunning} processes of this session run already; kill one`);
    starting += 1;
    let isLate = false;
    try {
      const process = await startProcess(order, { command, onOutput, hasInput }, signal);
      enter(process);
      if (seconds !== undefined) {
        const late = setTimeout(() => {
          isLate = true;
          process.end();
        }, seconds * 1000);
        void process.ended.then(() => clearTimeout(late));
      }
      return { process, isLate: () => isLate };
    } finally {
      starting -= 1;
    }
  };

  const forgetOldest = (): void => {
    const ended = [...kept.values()].filter(({ exitCode }) => exitCode !== undefined);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - mostEnded))) kept.delete(id);
  };

  const find = (id: string): Kept => {
    const found = kept.get(id);
    if (!found) throw new CallRefused("missing", `there is no process ${id.slice(0, 100)}`);
    return found;
  };

  return {
    start,
    find,
    async spawn(order, seconds) {
      const ring = createOutputRing();
      const { process } = await start(order, { seconds, hasInput: true, onOutput: ring.push });
      const one: Kept = {
        ...{ id: randomUUID(), process, startedAt: new Date(), ring },
        ...{ hasTty: order.tty !== undefined, exitCode: undefined },
      };
      kept.set(one.id, one);
      void process.ended.then((code) => {
        one.exitCode = code;
        ring.end(code);
        forgetOldest();
      });
      return one;
    },
    findRunning(id) {
      const found = find(id);
      if (found.exitCode !== undefined) throw new CallRefused("conflict", "the process has ended");
      return found;
    },
    read: (id) => kept.get(id)?.ring.read,
    usage({ process: { group }, startedAt, exitCode }) {
      if (exitCode !== undefined) return { cpuPct: 0, memBytes: 0 };
      const { cpuMs, memBytes } = usageOf([group]).get(group) ?? { cpuMs: 0, memBytes: 0 };
      const ms = Math.max(1, Date.now() - startedAt.getTime());
      return { cpuPct: Math.round((cpuMs / ms) * 1000) / 10, memBytes };
    },
  };
};
