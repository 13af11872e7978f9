/**
 * Ends processes that are in no known group: they left it, for example by setsid(2), or whoever started them was killed
 * before it could record them. They are found by a variable, which every descendant inherits: a random mark, or a home
 * below a folder.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { endGroup, readStat } from "./process-groups.ts";

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

const findWith = (variable: string): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(variable))
    .map(Number);

/**
 * Kills every process that has the mark, and waits until none is left. `killedGroups`: process groups that are being
 * ended; their members are not waited for. Throws when a process remains after half a second.
 */
export const endMarked = async (mark: string, killedGroups: number[]): Promise<void> => {
  for (let round = 0; round < maxRounds; round += 1) {
    const pids = findWith(`${markName}=${mark}\0`).filter(
      (pid) => ![undefined, ...killedGroups].includes(readStat(pid)?.group),
    );
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

/**
 * Ends the groups of all processes whose home is below this folder, until there are none. Whole groups, because a
 * Chromium's children write over their environment. Rejects after so many rounds that something else must be starting
 * them.
 */
export const endAtHomeIn = async (folder: string): Promise<void> => {
  for (let round = 0; round < maxRounds; round += 1) {
    const groups = new Set(findWith(`HOME=${folder}/`).flatMap((pid) => readStat(pid)?.group ?? []));
    // The number of a group whose leader is not seen from here.
    groups.delete(0);
    if (groups.size === 0) return;
    await Promise.all([...groups].map((group) => endGroup(group, 0)));
  }
  throw new Error(`processes of ${folder} could not be ended`);
};
