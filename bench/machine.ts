import { execFile } from "node:child_process";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..");

const git = async (...args: string[]): Promise<string | undefined> => {
  const run = promisify(execFile);
  return run("git", args, { cwd: root }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
};

/** The conditions of a run, without which its figures mean nothing. */
export type Machine = {
  cores: number;
  cpu: string;
  memoryBytes: number;
  node: string;
  /** Short hash, followed by `+` when files differ from it; undefined outside a clone. */
  commit: string | undefined;
  /** Average number of runnable processes in the minute before the run; well below `cores` on a machine at rest. */
  loadBefore: number;
};

/** Asks the machine and git; never rejects. */
export const describeMachine = async (): Promise<Machine> => {
  const [hash, changes] = await Promise.all([git("rev-parse", "--short", "HEAD"), git("status", "--porcelain")]);
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? "unknown",
    memoryBytes: totalmem(),
    node: process.version,
    commit: hash && `${hash}${changes ? "+" : ""}`,
    loadBefore: loadavg()[0] ?? 0,
  };
};
