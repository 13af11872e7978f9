/**
 * Ends processes that left the group in which they were started, for example by setsid(2). They are found by a variable with a
 * random value, which every descendant inherits.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The variable of a mark. */
export const markName = "BROWSERPOOL_RUN";

/** A mark for the environment of a program; no other program has it. */
export const newMark = (): string => randomUUID();

/** Processes may start others while they are being ended, so the search is repeated until it finds none. */
const maxRounds = 50;
const pauseMs = 10;

/** The environment of a process; "" when it has ended, or is another user's. */
const environmentOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
};

/** Not asynchronous: one file takes 10 µs to read, and ten times that by a thread of its own. */
const findMarked = (mark: string): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(`${markName}=${mark}\0`))
    .map(Number);

/** Kills every process that has the mark and waits until none is left. Throws when one remains after half a second. */
export const endMarked = async (mark: string): Promise<void> => {
  for (let round = 0; round < maxRounds; round += 1) {
    const pids = findMarked(mark);
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    }
    await sleep(pauseMs);
  }
  throw new Error("a process of the browser could not be ended");
};
