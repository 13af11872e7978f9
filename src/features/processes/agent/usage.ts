/** What a process uses, with all that it has started. */
import { readdirSync, readFileSync } from "node:fs";

/** `cpuMs`: time of processors until now, of those that run. */
type Usage = { memBytes: number; cpuMs: number };

/** Of Linux on all processors. */
const ticksPerSecond = 100;

type Found = { pid: number; parent: number; ticks: number };

const readOne = (pid: string): Found | undefined => {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    // What has ended was counted by the kernel for the parent that waited for it.
    const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15).map(Number);
    return { pid: Number(pid), parent: Number(fields[1]), ticks: utime + stime + cutime + cstime };
  } catch {
    return undefined;
  }
};

/** Bytes in memory; a page's size differs by machine. */
const residentOf = (pid: number): number => {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
    return Number(kib ?? 0) * 1024;
  } catch {
    return 0;
  }
};

/** Of each of these leaders with its descendants, by one look at all processes. */
export const usageOf = (leaders: readonly number[]): Map<number, Usage> => {
  const found = new Map<number, Found>();
  for (const name of readdirSync("/proc")) {
    const one = /^\d+$/.test(name) ? readOne(name) : undefined;
    if (one) found.set(one.pid, one);
  }
  const usages = new Map(leaders.map((leader) => [leader, { memBytes: 0, cpuMs: 0 }]));
  for (const one of found.values()) {
    const seen = new Set<number>();
    let at: Found | undefined = one;
    while (at && !usages.has(at.pid) && !seen.has(at.pid)) {
      seen.add(at.pid);
      at = found.get(at.parent);
    }
    const usage = at && usages.get(at.pid);
    if (!usage) continue;
    usage.memBytes += residentOf(one.pid);
    usage.cpuMs += (one.ticks / ticksPerSecond) * 1000;
  }
  return usages;
};
