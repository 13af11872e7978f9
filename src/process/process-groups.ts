/**
 * The process groups of a browser, on record in a file, so that they can be ended even after the agent itself was
 * killed. Chromium and Xvfb each lead a group of their own and everything they start stays in it.
 *
 * Format: one line a group, `<pgid> <starttime>`; starttime is field 22 of /proc/<pgid>/stat (clock ticks since boot)
 * and tells the leader from a later process that was given the same number.
 */
import { appendFile, readdir, readFile, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** How long `killRecordedGroups` waits for killed processes to be gone. SIGKILL needs a few ms; a stuck disk can need more. */
const goneAfterKillMs = 2000;

type Stat = { state: string; group: number; startTime: string };

/** The kernel's line on a process; undefined when there is none. The name in parentheses may itself hold spaces and parentheses. */
const readStat = async (pid: number | string): Promise<Stat | undefined> => {
  const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  const [state, , group, ...rest] = line?.slice(line.lastIndexOf(")") + 2).split(" ") ?? [];
  const startTime = rest[16];
  return state === undefined || startTime === undefined ? undefined : { state, group: Number(group), startTime };
};

/** Adds the group that `pid` leads to the record. A leader that is gone already is recorded with start time 0. */
export const recordProcessGroup = async (file: string, pid: number): Promise<void> => {
  const stat = await readStat(pid);
  await appendFile(file, `${pid} ${stat?.startTime ?? 0}\n`, { mode: 0o600 });
};

/** Signals a whole group; false when it has no member any more. */
export const signalGroup = (pgid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch {
    return false;
  }
};

/** Whether a member of the group still runs. Zombies don't count: they wait for a parent that may never collect them. */
const groupRuns = async (pgid: number): Promise<boolean> => {
  if (!signalGroup(pgid, 0)) return false;
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map(readStat));
  return stats.some((stat) => stat?.group === pgid && stat.state !== "Z" && stat.state !== "X");
};

/** Waits until nothing of the group runs; false when something still does after `waitMs`. */
const groupGone = async (pgid: number, waitMs: number): Promise<boolean> => {
  const deadline = performance.now() + waitMs;
  for (let pauseMs = 10; await groupRuns(pgid); pauseMs = Math.min(pauseMs * 2, 200)) {
    if (performance.now() >= deadline) return false;
    await sleep(pauseMs);
  }
  return true;
};

/**
 * Ends a group: SIGTERM, then SIGKILL for what is left when it seems to be gone, or after `graceMs` (0: SIGKILL at once).
 * A look at all processes takes its time: a member may start another one and end meanwhile, and neither is seen. The
 * kernel signals a group as a whole, so SIGKILL misses none.
 */
export const endGroup = async (pgid: number, graceMs: number): Promise<void> => {
  if (graceMs > 0 && signalGroup(pgid, "SIGTERM")) await groupGone(pgid, graceMs);
  if (signalGroup(pgid, "SIGKILL")) await groupGone(pgid, goneAfterKillMs);
};

const killRecorded = async (line: string): Promise<void> => {
  const [, pgid, startTime] = /^([1-9]\d*) (\d+)$/.exec(line) ?? [];
  // Group 1 would be "every process" to kill(2).
  if (pgid === undefined || pgid === "1") return;
  const leader = await readStat(pgid);
  // No process is given the number of a group that still has members, so another start time means that ours is gone.
  if (leader && leader.startTime !== startTime) return;
  await endGroup(Number(pgid), 0);
};

/** Kills every recorded group that still has members, then removes the record. No file: nothing to do. */
export const killRecordedGroups = async (file: string): Promise<void> => {
  const lines = await readFile(file, "utf8").catch(() => "");
  await Promise.all(lines.split("\n").map(killRecorded));
  await rm(file, { force: true });
};
