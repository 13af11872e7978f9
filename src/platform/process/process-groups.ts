/**
 * Records process groups in a file, so that they can be ended even after the process that started them was killed. The
 * agent records Chromium and Xvfb, local mode each of its children. Everything that they start stays in their group.
 *
 * Format: one line a group, `<pgid> <starttime>`. The start time is field 22 of /proc/<pgid>/stat (clock ticks since
 * boot); it distinguishes the leader from a later process with the same number.
 */

import { readdirSync, readFileSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait for processes to end after SIGKILL. A few ms are normal; a process on a stuck disk needs more. */
const goneAfterKillMs = 2000;

type Stat = { state: string; group: number; startTime: string };

/**
 * Parses /proc/<pid>/stat; undefined when there is no such process. The name in parentheses may hold spaces and
 * parentheses. Not asynchronous: one file takes 10 µs to read.
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

/**
 * Whether a member of the group still runs. Zombies don't count: they wait for a parent that may never collect them.
 */
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
 * Ends a group: SIGTERM, then SIGKILL for the members that remain, once the group seems to be gone or after `graceMs`
 * (0: SIGKILL at once). Reading all processes takes time: a member can start another one and end meanwhile, and the
 * reader sees neither. The kernel signals a group as a whole, so SIGKILL misses none.
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
  // The kernel gives no process the number of a group that still has members, so another start time means that ours has
  // ended.
  if (leader && leader.startTime !== startTime) return;
  await endGroup(Number(pgid), 0);
};

/** Kills every recorded group that still has members, then removes the file. Does nothing without a file. */
export const killRecordedGroups = async (file: string): Promise<void> => {
  const lines = await readFile(file, "utf8").catch(() => "");
  await Promise.all(lines.split("\n").map(killRecorded));
  await rm(file, { force: true });
};

// The process register: one file for every living child in `<data dir>/run`, so that the next start can end the
// processes that a killed run left behind. Id and start time together identify a process, because the kernel reuses
// ids; its name never does.

const folderOf = (dataDir: string): string => join(dataDir, "run");
const suffix = ".process";
const fileOf = (dataDir: string, name: string): string => join(folderOf(dataDir), `${name}${suffix}`);

/** `pid`: leader of a process group. Rejects when the entry can't be written. */
export const registerProcess = async (dataDir: string, name: string, pid: number): Promise<void> => {
  await mkdir(folderOf(dataDir), { recursive: true, mode: 0o700 });
  await recordProcessGroup(fileOf(dataDir, name), pid);
};

/** Drops the entry of a process that has ended. A missing entry is no error. */
export const forgetProcess = (dataDir: string, name: string): Promise<void> =>
  rm(fileOf(dataDir, name), { force: true });

/** Kills every registered process with its group and empties the register. */
export const killRegisteredProcesses = async (dataDir: string): Promise<void> => {
  const files = await readdir(folderOf(dataDir)).catch(() => []);
  const entries = files.filter((file) => file.endsWith(suffix));
  await Promise.all(entries.map((file) => killRecordedGroups(join(folderOf(dataDir), file))));
};

/** Drops all entries and signals no process: after a reboot their processes can't live any more. */
export const clearRegister = async (dataDir: string): Promise<void> => {
  const files = await readdir(folderOf(dataDir)).catch(() => []);
  await Promise.all(
    files.filter((file) => file.endsWith(suffix)).map((file) => rm(join(folderOf(dataDir), file), { force: true })),
  );
};
