/**
 * Ends processes that left the group in which they were started, for example by setsid(2). They are found by a variable with a
 * random value, which every descendant inherits.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readStat } from "./process-groups.ts";

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

const findMarked = (mark: string, killedGroups: number[]): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(`${markName}=${mark}\0`))
    .map(Number)
    .filter((pid) => ![undefined, ...killedGroups].includes(readStat(pid)?.group));

/**
 * Kills every process that has the mark, and waits until none is left. `killedGroups`: process groups that are being
 * ended; their members are not waited for. Throws when a process remains after half a second.
 */
export const endMarked = async (mark: string, killedGroups: number[]): Promise<void> => {
  for (let round = 0; round < maxRounds; round += 1) {
    const pids = findMarked(mark, killedGroups);
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
