/**
 * Records process groups in a file, so that they can be ended even after the process that started them was killed. The agent
 * records Chromium and Xvfb, local mode each of its children. Everything that they start stays in their group.
 *
 * Format: one line a group, `<pgid> <starttime>`. The start time is field 22 of /proc/<pgid>/stat (clock ticks since boot); it
 * distinguishes the leader from a later process with the same number.
 */
import { readdirSync, readFileSync } from "node:fs";
import { appendFile, readFile, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait for processes to end after SIGKILL. A few ms are normal; a process on a stuck disk needs more. */
const goneAfterKillMs = 2000;

type Stat = { state: string; group: number; startTime: string };

/**
 * Parses /proc/<pid>/stat; undefined when there is no such process. The name in parentheses may hold spaces and parentheses. Not
 * asynchronous: one file takes 10 µs to read.
 */
export const readStat = (pid: number | string): Stat | undefined => {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, , group, ...rest] = line.slice(line.lastIndexOf(")") + 2).split(" ");
    const startTime = rest[16];
    return state === undefined || startTime === undefined ? undefined : { state, group: Number(group), startTime };
  } catch {
    return undefined;
  }
};

/** Adds the group that `pid` leads to the file. A leader that has ended already gets the start time 0. */
export const recordProcessGroup = async (file: string, pid: number): Promise<void> => {
  const stat = readStat(pid);
  await appendFile(file, `${pid} ${stat?.startTime ?? 0}\n`, { mode: 0o600 });
};

/** Signals a whole group; false when it has no members any more. */
export const signalGroup = (pgid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch {
    return false;
  }
};

/** Whether a member of the group still runs. Zombies don't count: they wait for a parent that may never collect them. */
const groupRuns = (pgid: number): boolean =>
  signalGroup(pgid, 0) &&
  readdirSync("/proc").some((name) => {
    const found = /^\d+$/.test(name) ? readStat(name) : undefined;
    return found?.group === pgid && found.state !== "Z" && found.state !== "X";
  });

/** Waits until no process of the group runs; false when one still does after `waitMs`. */
export const groupGone = async (pgid: number, waitMs: number): Promise<boolean> => {
  const deadline = performance.now() + waitMs;
  for (let pauseMs = 5; groupRuns(pgid); pauseMs = Math.min(pauseMs * 2, 200)) {
    if (performance.now() >= deadline) return false;
    await sleep(pauseMs);
  }
  return true;
};

/**
 * Ends a group: SIGTERM, then SIGKILL for the members that remain, once the group seems to be gone or after `graceMs` (0: SIGKILL
 * at once). Reading all processes takes time: a member can start another one and end meanwhile, and the reader sees neither. The
 * kernel signals a group as a whole, so SIGKILL misses none.
 */
export const endGroup = async (pgid: number, graceMs: number): Promise<void> => {
  if (graceMs > 0 && signalGroup(pgid, "SIGTERM")) await groupGone(pgid, graceMs);
  if (signalGroup(pgid, "SIGKILL")) await groupGone(pgid, goneAfterKillMs);
};

const killRecorded = async (line: string): Promise<void> => {
  const [, pgid, startTime] = /^([1-9]\d*) (\d+)$/.exec(line) ?? [];
  // kill(2) takes -1 for every process.
  if (pgid === undefined || pgid === "1") return;
  const leader = readStat(pgid);
  // The kernel gives no process the number of a group that still has members, so another start time means that ours has ended.
  if (leader && leader.startTime !== startTime) return;
  await endGroup(Number(pgid), 0);
};

/** Kills every recorded group that still has members, then removes the file. Does nothing without a file. */
export const killRecordedGroups = async (file: string): Promise<void> => {
  const lines = await readFile(file, "utf8").catch(() => "");
  await Promise.all(lines.split("\n").map(killRecorded));
  await rm(file, { force: true });
};
