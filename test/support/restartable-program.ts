/** A server of the tests in a process of its own, which a test may kill and start again on the same port. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { accepts } from "./accepts.ts";
import { eventually } from "./eventually.ts";

export type RestartableProgram = AsyncDisposable & {
  /** The process of the moment. */
  child(): ChildProcess;
  kill(): Promise<void>;
  /** After `kill`. */
  start(): Promise<void>;
};

/** `folder`: where it runs; removed with it. `onOutput`: takes what it prints. */
type ProgramOptions = { args: string[]; port: number; folder: string; onOutput?: (text: string) => void };

/** Starts it and waits until it listens. It has no variables of the environment. */
export const startProgram = async (
  program: string,
  { args, port, folder, onOutput }: ProgramOptions,
): Promise<RestartableProgram> => {
  const run = async (): Promise<ChildProcess> => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: {}, cwd: folder });
    child.stdout.setEncoding("utf8").on("data", (text: string) => onOutput?.(text));
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors = (errors + text).slice(-4000);
    });
    await eventually(`${program} listens`, () => {
      if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${errors}`);
      return accepts(port);
    });
    return child;
  };
  let child = await run();
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  };
  return {
    child: () => child,
    kill,
    async start() {
      child = await run();
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
