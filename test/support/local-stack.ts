/** Local mode as a user runs it, for end-to-end tests: one process, its own data directory, a free port. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type Kube } from "../../src/kube/client.ts";
import type { Connection } from "../../src/local/connection-file.ts";
import { type Clients, clientsOf } from "./clients.ts";
import { prepareDataDir } from "./control-plane.ts";
import { eventually } from "./eventually.ts";

const root = join(import.meta.dirname, "../..");

export type LocalStack = Connection &
  Clients & {
    dataDir: string;
    process: ChildProcess;
    kube: Kube;
    /** What it has printed so far. */
    output(): string;
    /** Sends SIGINT, as Ctrl-C does, and resolves with the exit code. The data stays. */
    stop(): Promise<number | null>;
    /** Ends it and removes the data. */
    [Symbol.asyncDispose](): Promise<void>;
  };

/** Several stacks start at a time on two cores, beside a cluster that comes up, ms: a quiet machine needs two seconds. */
const readyWithinMs = 90_000;

const connectionOf = async (dataDir: string): Promise<Connection | undefined> => {
  try {
    return JSON.parse(await readFile(join(dataDir, "local.json"), "utf8")) as Connection;
  } catch {
    return undefined;
  }
};

/** Starts local mode and waits until it is ready. `dataDir`: the directory of a former run; by default a new one. */
export const startLocalStack = async (
  options: { dataDir?: string; env?: Record<string, string>; args?: string[] } = {},
): Promise<LocalStack> => {
  await using parts = new AsyncDisposableStack();
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "bp-")));
  parts.defer(() => rm(dataDir, { recursive: true, force: true }));
  if (options.dataDir === undefined) await prepareDataDir(dataDir);
  const child = spawn(
    process.execPath,
    [join(root, "src/main.ts"), "local", "--port", "0", "--data-dir", dataDir, ...(options.args ?? [])],
    { cwd: root, env: { ...process.env, ...options.env }, stdio: ["ignore", "pipe", "pipe"] },
  );
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
  parts.defer(async () => void (await stop()));
  const isReady = async (): Promise<Connection | undefined> => {
    if (child.exitCode !== null) throw new Error(`local mode ended with ${child.exitCode}: ${output}`);
    const found = await connectionOf(dataDir);
    return found?.pid === child.pid ? found : undefined;
  };
  const connection = await eventually("local mode is ready", isReady, readyWithinMs);
  const kube = connectKube({ kubeconfigPath: connection.kubeconfig });
  parts.defer(() => kube.close());
  const kept = parts.move();
  return {
    ...connection,
    dataDir,
    process: child,
    kube,
    output: () => output,
    ...clientsOf(connection),
    stop,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
