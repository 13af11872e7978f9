/**
 * What a run has brought up on this machine and must take back, in a file: so that it can be taken back when the run
 * was killed before it could do so itself. `npm run test:cluster` has that done when its process was killed, and each
 * run looks first.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";
import { readStat } from "../../../src/platform/process/process-groups.ts";
import type { Run } from "../lane.ts";

const file = resolve(import.meta.dirname, "../../../.browserpool/cluster/made.json");

/**
 * `commands`: program and arguments each, in the order in which they are to be run. The rest tells whether the run is
 * alive.
 */
const Made = z.object({ pid: z.number(), startTime: z.string(), commands: z.array(z.array(z.string())) });

/** Notes what takes back that which is about to be made, whether or not that succeeds. */
export const noteMade = (commands: string[][]): Promise<void> => {
  const { pid } = process;
  return writeFile(file, JSON.stringify({ pid, startTime: readStat(pid)?.startTime ?? "", commands }));
};

export const forgetMade = (): Promise<void> => rm(file, { force: true });

/** Takes back what a run has left that lives no more. Rejects when a command fails; the note stays then. */
export const takeBackLeft = async (run: Run): Promise<void> => {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return;
  const { pid, startTime, commands } = Made.parse(JSON.parse(text));
  if (readStat(pid)?.startTime === startTime) return;
  for (const [program = "", ...args] of commands) await run(program, ...args);
  await forgetMade();
};
