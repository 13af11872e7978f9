/** Local mode as a user runs it: one process, its own data directory, a free port. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Connection } from "../../src/local/connection-file.ts";
import { eventually } from "./eventually.ts";

const root = join(import.meta.dirname, "../..");

/** Several start at a time on two cores, beside a cluster that comes up, ms: a quiet machine needs two seconds. */
const readyWithinMs = 90_000;

export type LocalMode = Connection & {
  dataDir: string;
  process: ChildProcess;
  /** What it has printed so far. */
  output(): string;
  /** Sends SIGINT, as Ctrl-C does, and resolves with the exit code. The data stays. */
  stop(): Promise<number | null>;
};

/** `inside`: a command that executes the one after it, and becomes it. */
export type LocalModeOptions = {
  dataDir: string;
  env?: Record<string, string>;
  args?: string[];
  inside?: readonly string[];
};

const connectionOf = async (dataDir: string): Promise<Connection | undefined> => {
  try {
    return JSON.parse(await readFile(join(dataDir, "local.json"), "utf8")) as Connection;
  } catch {
    return undefined;
  }
};

/** Starts local mode and waits until it is ready. When that fails, nothing of it runs. */
export const startLocalMode = async ({
  dataDir,
  env,
  args = [],
  inside = [],
}: LocalModeOptions): Promise<LocalMode> => {
  const local = [join(root, "src/main.ts"), "local", "--port", "0", "--no-demo", "--data-dir", dataDir, ...args];
  const [program = "", ...rest] = [...inside, process.execPath, ...local];
  const child = spawn(program, rest, { cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  const stop = async (): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGINT");
      await exited;
    }
    return child.exitCode;
  };
  const isReady = async (): Promise<Connection | undefined> => {
    if (child.exitCode !== null) throw new Error(`local mode ended with ${child.exitCode}: ${output}`);
    const found = await connectionOf(dataDir);
    return found?.pid === child.pid ? found : undefined;
  };
  try {
    const connection = await eventually("local mode is ready", isReady, readyWithinMs);
    return { ...connection, dataDir, process: child, output: () => output, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
