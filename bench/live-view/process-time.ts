/** CPU time of processes, from /proc. */
import { readdir, readFile } from "node:fs/promises";

const ticksPerSecond = 100;

type Usage = { pid: number; parent: number; seconds: number };

const usageOf = async (pid: string): Promise<Usage | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (!stat) return undefined;
  // The name may have blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    pid: Number(pid),
    parent: Number(fields[1]),
    seconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
  };
};

/** Seconds of CPU that a process and its descendants have used so far. */
export const cpuSeconds = async (root: number): Promise<number> => {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = (await Promise.all(names.map(usageOf))).filter((usage) => usage !== undefined);
  const inside = new Set([root]);
  for (let size = 0; size !== inside.size; ) {
    size = inside.size;
    for (const { pid, parent } of all) if (inside.has(parent)) inside.add(pid);
  }
  return all.filter(({ pid }) => inside.has(pid)).reduce((sum, { seconds }) => sum + seconds, 0);
};
