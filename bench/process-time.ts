/** CPU time and memory of processes, from /proc. */
import { readdir, readFile } from "node:fs/promises";

/** Clock ticks a second in `/proc/<pid>/stat`, on every Linux that Node runs on. */
const ticksPerSecond = 100;

type Usage = { pid: number; parent: number; name: string; seconds: number };

/** Undefined for a process that has ended. */
const usageOf = async (pid: number): Promise<Usage | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (!stat) return undefined;
  // The name may have blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
  return { pid, parent: Number(fields[1]), name, seconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond };
};

const usagesOf = async (pids: readonly number[]): Promise<Usage[]> =>
  (await Promise.all(pids.map(usageOf))).filter((usage) => usage !== undefined);

const sumOf = (usages: readonly Usage[]): number => usages.reduce((sum, { seconds }) => sum + seconds, 0);

/** Seconds of CPU that these processes have used so far; one that has ended counts as 0. */
export const cpuSecondsOf = async (...pids: number[]): Promise<number> => sumOf(await usagesOf(pids));

/** A process and its descendants. `name`: that of the program, cut to 15 characters. */
export const processesBelow = async (root: number): Promise<Usage[]> => {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await usagesOf(names.map(Number));
  const inside = new Set([root]);
  for (let size = 0; size !== inside.size; ) {
    size = inside.size;
    for (const { pid, parent } of all) if (inside.has(parent)) inside.add(pid);
  }
  return all.filter(({ pid }) => inside.has(pid));
};

/** Seconds of CPU that a process and its descendants have used so far. */
export const cpuSecondsBelow = async (root: number): Promise<number> => sumOf(await processesBelow(root));

/** Resident memory of a process, bytes. Rejects for one that has ended. */
export const residentBytesOf = async (pid: number): Promise<number> =>
  1024 * Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]);
