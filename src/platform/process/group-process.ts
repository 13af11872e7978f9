/**
 * A program of the agent, Chromium or Xvfb, as the leader of a process group of its own. A line of its output says that
 * it is up and under which address, so the agent reads that output through a pipe. It drops what follows, if nobody
 * wants it. Nothing restarts it: an agent ends with its browser.
 *
 * child-process.ts, for local mode, differs: it writes the output to a log file, and supervised-child.ts finds out by a
 * question to the program whether it is up.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { endGroup, groupGone, recordProcessGroup } from "./process-groups.ts";

/**
 * Calls `onLine` for each line of a stream, until the returned function is called: then it runs dry unread. What is
 * beyond `maxChars` of a line is dropped, so that a program which never ends its line fills no memory.
 */
export const eachLine = (stream: Readable, maxChars: number, onLine: (line: string) => void): (() => void) => {
  const decoder = new StringDecoder("utf8");
  let begun = "";
  const take = (text: string): void => {
    const parts = text.split("\n");
    const last = parts.pop() ?? "";
    for (const part of parts) {
      const line = (begun + part).slice(0, maxChars);
      begun = "";
      onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    }
    begun = (begun + last).slice(0, maxChars);
  };
  const onData = (chunk: Buffer): void => take(decoder.write(chunk));
  const onEnd = (): void => {
    if (begun !== "") onLine(begun);
  };
  stream.on("data", onData);
  stream.once("end", onEnd);
  return () => {
    stream.off("data", onData);
    stream.off("end", onEnd);
    stream.resume();
  };
};

/** Lines of stderr that a failed start reports. */
const tailLines = 20;
const tailLineChars = 300;

/** Longest line that is read, characters; the rest of it is dropped. */
const maxLineChars = 4000;

/** What the end of a program may trail its last words by. */
const lastWordsMs = 200;

const never = /(?!)/;

type GroupProcessOptions = {
  /** What the program is called in messages, e.g. `Chromium`. */
  name: string;
  program: string;
  args: string[];
  env: Record<string, string>;
  /** The line that says that the program is up; its first group is `ready`. */
  readyPattern: RegExp;
  /** The descriptor on which that line comes: 2 is stderr, 3 a pipe opened for it. */
  readyFd: 2 | 3;
  startDeadlineMs: number;
  /** Takes the lines of its standard error, but for the one that says that it is up. Left out, they are dropped. */
  onLine?: (line: string) => void;
  /** Called when its process runs, before it is up. */
  onSpawn?: () => void;
  /** File in which the group is recorded (process-groups.ts). */
  groupsFile: string;
};

export type GroupProcess = {
  /** The number of its process group. */
  group: number;
  ready: string;
  /** Resolves with how it ended, e.g. `Chromium was ended by SIGKILL`; never rejects. */
  exited: Promise<string>;
  /** Whether it has ended by itself, with success. */
  hasSucceeded(): boolean;
  /** Waits until the group has no members, without a signal to them; false when it still has some after `waitMs`. */
  isEmpty(waitMs: number): Promise<boolean>;
  /**
   * Ends the whole group: SIGTERM, then SIGKILL after `graceMs`. Also right when the leader is gone and others remain.
   */
  end(graceMs: number): Promise<void>;
};

const exitOf = (child: ChildProcess, name: string): Promise<string> =>
  new Promise((resolve) => {
    child.on("error", (error) => resolve(`${name} could not be started: ${error.message}`));
    child.on("exit", (code, signal) =>
      resolve(`${name} ${signal ? `was ended by ${signal}` : `ended with code ${code}`}`),
    );
  });

type Reading = { pattern: RegExp; tail: string[]; onLine?: ((line: string) => void) | undefined };

/**
 * Reads lines until one matches, and keeps the last ones in `tail`. `onLine` gets all others, also those that follow.
 */
const firstMatch = (stream: Readable, { pattern, tail, onLine }: Reading): Promise<string> =>
  new Promise((resolve) => {
    let isFound = false;
    const stop = eachLine(stream, maxLineChars, (line) => {
      const match = isFound ? undefined : pattern.exec(line);
      if (match) {
        isFound = true;
        resolve(match[1] ?? "");
        if (!onLine) stop();
        return;
      }
      onLine?.(line);
      if (isFound) return;
      tail.push(line.slice(0, tailLineChars));
      tail.splice(0, tail.length - tailLines);
    });
  });

const rejectAfter = async (ms: number, message: string, signal: AbortSignal): Promise<never> => {
  await sleep(ms, undefined, { signal });
  throw new Error(message);
};

const whenReady = async (
  child: ChildProcess,
  exited: Promise<string>,
  options: GroupProcessOptions,
  signal: AbortSignal,
): Promise<string> => {
  const tail: string[] = [];
  const settled = new AbortController();
  const stop = AbortSignal.any([signal, settled.signal]);
  const stream = child.stdio[options.readyFd];
  if (!(stream instanceof Readable)) throw new Error(`descriptor ${options.readyFd} of ${options.name} is no pipe`);
  // Xvfb says what is wrong on stderr and that it is up on a descriptor of its own.
  if (options.readyFd !== 2 && child.stderr) void firstMatch(child.stderr, { pattern: never, tail });
  const seconds = options.startDeadlineMs / 1000;
  try {
    return await Promise.race([
      firstMatch(stream, { pattern: options.readyPattern, tail, onLine: options.onLine }),
      exited.then((how) => Promise.reject(new Error(how))),
      rejectAfter(options.startDeadlineMs, `${options.name} was not up within ${seconds} s`, stop),
    ]);
  } catch (cause) {
    if (child.stderr) await Promise.race([finished(child.stderr).catch(() => undefined), sleep(lastWordsMs)]);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error([reason, ...tail].join("\n"), { cause });
  } finally {
    settled.abort();
  }
};

/**
 * Starts a program as the leader of a process group of its own, on record, and waits until it says that it is up.
 * When it doesn't, or `signal` aborts the wait, the group is killed and the error holds the last lines of its stderr.
 */
export const startGroupProcess = async (options: GroupProcessOptions, signal: AbortSignal): Promise<GroupProcess> => {
  signal.throwIfAborted();
  const child = spawn(options.program, options.args, {
    detached: true,
    env: options.env,
    stdio: ["ignore", "ignore", "pipe", ...(options.readyFd === 3 ? ["pipe" as const] : [])],
  });
  const pid = child.pid;
  if (options.onSpawn) child.once("spawn", options.onSpawn);
  const exited = exitOf(child, options.name);
  const end = (graceMs: number): Promise<void> => (pid === undefined ? Promise.resolve() : endGroup(pid, graceMs));
  const recorded = pid === undefined ? Promise.resolve() : recordProcessGroup(options.groupsFile, pid);
  try {
    // Both at once: what a program says before its end is lost unless it is being read.
    const [ready] = await Promise.all([whenReady(child, exited, options, signal), recorded]);
    const group = pid ?? 0;
    return {
      ...{ ready, exited, end, group },
      hasSucceeded: () => child.exitCode === 0,
      isEmpty: (waitMs) => groupGone(group, waitMs),
    };
  } catch (error) {
    await Promise.allSettled([recorded]);
    await end(0);
    throw error;
  }
};
