import { readFileSync } from "node:fs";
import { runningIn } from "../../test/support/agent-process.ts";

/** The memory of these process groups, bytes: each page's share of those that map it, so that no page counts twice. */
export const memoryOf = (groups: number[]): number => {
  let kib = 0;
  for (const pid of runningIn(groups)) {
    try {
      kib += Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      // It has ended meanwhile.
    }
  }
  return kib * 1024;
};
