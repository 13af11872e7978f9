/** One process of an executor, from its start to its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { eachLine } from "../../../platform/process/group-process.ts";
import { endGroup, recordProcessGroup, signalGroup } from "../../../platform/process/process-groups.ts";
import { lacksNamespaces } from "./apart.ts";
import type { ExecutorCommand } from "./executor-command.ts";
import { ExecutorMessage, mostLineChars } from "./executor-messages.ts";
import { cdpFd, type ExecutorOrder, type ExecutorStart, messagesFd } from "./executor-orders.ts";

/** Time from the start of the process to its connection with the browser, ms. */
const startMs = 30_000;

/** Most that a process says in one call, characters: outputs and a result come to less. */
const mostCallChars = 64 * 1024 * 1024;

/** What is kept of its standard error, which only Node itself writes to, characters. */
const stderrChars = 4000;

export type ExecutorProcess = {
  /**
   * Has it carry out an order; one at a time. Resolves with its last message, or with why the process has ended.
   * `onMessage` gets those before.
   */
  order(
    order: Omit<ExecutorOrder, "id">,
    onMessage: (message: ExecutorMessage) => void,
  ): Promise<Extract<ExecutorMessage, { is: "returned" | "failed" }> | { is: "ended"; why: string }>;
  /** Resolves with why it ended. Never rejects. */
  ended: Promise<string>;
  /** Kills it at once, if it runs. `why`: what a call learns that it carries out. */
  end(why: string): void;
};

type StartDeps = {
  command: ExecutorCommand;
  groupsFile: string;
  /** Joins its pipe for CDP with the browser, or rejects; `withinMs`: when it must have asked for that. */
  join(pipe: Socket, withinMs: number): Promise<void>;
};

/** How long a process that ends may take to do so after its pipes are closed, ms. */
const lastMs = 500;

/** Ends a process that has lost its browser, unless it was its end that closed the connection. */
const endAfter = async (ended: Promise<unknown>, end: ExecutorProcess["end"]): Promise<void> => {
  const why = "the executor's connection to the browser has ended";
  const lost = await Promise.race([ended.then(() => undefined), sleep(lastMs, why, { ref: false })]);
  if (lost !== undefined) end(lost);
};

const howOf = (code: number | null, signal: NodeJS.Signals | null, stderr: string): string => {
  if (/out of memory|heap limit/i.test(stderr)) return "the executor ran out of memory";
  return `the executor ${signal ? `was ended by ${signal}` : `ended with code ${code}`}`;
};

const keepTail = (stream: Readable): (() => string) => {
  let tail = "";
  stream.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("latin1")).slice(-stderrChars);
  });
  return () => tail;
};

type Running = Pick<ExecutorProcess, "ended" | "end"> & {
  orders: Writable;
  listen(listener: (message: ExecutorMessage) => void): void;
  stderr(): string;
};

const watchProcess = (child: ChildProcess, group: number): Running => {
  const [orders, messages] = [child.stdin as Writable, child.stdio[messagesFd] as Readable];
  let [listener, heard, reason] = [(_message: ExecutorMessage): void => undefined, 0, ""];
  const stderr = keepTail(child.stderr as Readable);
  const end = (why: string): void => {
    // Its number may be another group's by now.
    if (child.exitCode !== null || child.signalCode !== null) return;
    reason ||= why;
    signalGroup(group, "SIGKILL");
    void endGroup(group, 0);
  };
  const ended = once(child, "close").then(
    ([code, signal]) => reason || howOf(code as number | null, signal as NodeJS.Signals | null, stderr()),
    (error: Error) => `the executor could not be started: ${error.message}`,
  );
  // Whatever it has started ends with it.
  child.once("exit", () => void endGroup(group, 0));
  orders.on("error", () => undefined);
  messages.on("error", () => undefined);
  eachLine(messages, mostLineChars, (line) => {
    heard += line.length;
    const message = heard > mostCallChars ? undefined : readMessage(line);
    if (message) listener(message);
    else end("the executor said more than is read, or what nobody understands");
  });
  return {
    ended,
    end,
    orders,
    stderr,
    listen(next) {
      heard = 0;
      listener = next;
    },
  };
};

const readMessage = (line: string): ExecutorMessage | undefined => {
  try {
    return ExecutorMessage.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
};

const whenReady = async ({ ended, listen, stderr }: Running): Promise<void> => {
  const ready = new Promise<void>((resolve) => listen(({ is }) => is === "ready" && resolve()));
  const failed = ended.then((why) => {
    if (!lacksNamespaces(stderr())) throw new Error(`${why}: ${stderr()}`);
    throw new CallRefused(
      "not_supported_here",
      "this browser's machine lets nobody make the namespaces that code needs",
    );
  });
  const late = new AbortController();
  const inTime = sleep(startMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`the executor was not up within ${startMs / 1000} s`);
  });
  try {
    await Promise.race([ready, failed, inTime]);
  } finally {
    late.abort();
    for (const other of [failed, inTime]) other.catch(() => undefined);
  }
};

/**
 * Starts a process that is connected with the browser. Rejects when it isn't in time, or `signal` is aborted; an abort
 * ends it at any time. It also ends with its connection.
 */
export const startExecutorProcess = async (deps: StartDeps, signal: AbortSignal): Promise<ExecutorProcess> => {
  signal.throwIfAborted();
  const { program, args, filesAt } = deps.command;
  const child = spawn(program, args, {
    // Without a home Node asks the system for one, which knows none.
    ...{ detached: true, env: { HOME: filesAt }, cwd: filesAt },
    stdio: ["pipe", "ignore", "pipe", "pipe", "pipe"],
  });
  const running = watchProcess(child, child.pid ?? 0);
  const { ended, end, orders, listen } = running;
  const abort = (): void => end("the lease has ended");
  signal.addEventListener("abort", abort, { once: true });
  void ended.then(() => signal.removeEventListener("abort", abort));
  try {
    if (child.pid !== undefined) await recordProcessGroup(deps.groupsFile, child.pid);
    const pipe = child.stdio[cdpFd] as Socket;
    pipe.once("close", () => void endAfter(ended, end));
    pipe.on("error", () => pipe.destroy());
    const start: ExecutorStart = { downloads: `${filesAt}/downloads` };
    orders.write(`${JSON.stringify(start)}\n`);
    await Promise.all([whenReady(running), deps.join(pipe, startMs)]);
  } catch (error) {
    end("the executor did not start");
    signal.throwIfAborted();
    throw error;
  }
  let orderId = 0;
  return {
    ended,
    end,
    async order(order, onMessage) {
      orderId += 1;
      const id = orderId;
      const over = new Promise<Extract<ExecutorMessage, { is: "returned" | "failed" }>>((resolve) =>
        listen((message) => {
          if (!("id" in message) || message.id !== id) return;
          if (message.is === "returned" || message.is === "failed") resolve(message);
          else onMessage(message);
        }),
      );
      orders.write(`${JSON.stringify({ id, ...order } satisfies ExecutorOrder)}\n`);
      try {
        return await Promise.race([over, ended.then((why) => ({ is: "ended" as const, why }))]);
      } finally {
        listen(() => undefined);
      }
    },
  };
};
