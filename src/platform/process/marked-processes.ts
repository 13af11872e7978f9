/**
 * Ends processes that are in no known group: they left it, for example by setsid(2), or whoever started them was killed
 * before it could record them. They are found by a variable, which every descendant inherits: a random mark, or a home
 * below a folder; or by their user.
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

const findProcesses = (isWanted: (pid: string) => boolean): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isWanted(name))
    .map(Number);

const findWith = (variable: string): number[] => findProcesses((pid) => environmentOf(pid).includes(variable));

/** Kills what is found until nothing is; false when something remains after so many rounds. */
const killAll = async (find: () => number[], rounds: number): Promise<boolean> => {
  for (let round = 0; round < rounds; round += 1) {
    const pids = find();
    if (pids.length === 0) return true;
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    }
    await sleep(pauseMs);
  }
  return false;
};

/**
 * Kills every process that has the mark, and waits until none is left. `killedGroups`: process groups that are being
 * ended; their members are not waited for. Throws when a process remains after half a second.
 */
export const endMarked = async (mark: string, killedGroups: number[]): Promise<void> => {
  const find = (): number[] =>
    findWith(`${markName}=${mark}\0`).filter((pid) => ![undefined, ...killedGroups].includes(readStat(pid)?.group));
  if (!(await killAll(find, maxRounds))) throw new Error("a process of the browser could not be ended");
};

/** A user may have a whole browser. */
const maxRoundsOfUser = 200;

/** Whether a process is this user's, and no zombie. */
const isOf = (user: number, pid: string): boolean => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return status.includes(`\nUid:\t${user}\t`) && !/^State:\t[ZX]/m.test(status);
  } catch {
    return false; // it has ended
  }
};

/** Kills all processes of a user who has no others, and waits until none is left. Throws when one remains. */
export const endProcessesOf = async (user: number): Promise<void> => {
  if (!(await killAll(() => findProcesses((pid) => isOf(user, pid)), maxRoundsOfUser)))
    throw new Error(`processes of user ${user} could not be ended`);
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
