/**
 * Runs load in its own process, so that making the load does not slow what this process measures. A job is a file that
 * exports `run(input, signal)`; input and result travel as structured clones.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export type Job<Input, Result> = (input: Input, signal: AbortSignal) => Promise<Result>;

/** The answer of the process (`own-process-entry.ts`). */
export type JobAnswer = { result: unknown } | { error: string };

const entry = join(import.meta.dirname, "own-process-entry.ts");

/** Runs the job of `file`. Rejects with the job's error; when `signal` aborts, kills the process. */
export const runInOwnProcess = async <Input, Result>(
  file: string,
  input: Input,
  { signal, nodeArgs = [] }: { signal: AbortSignal; nodeArgs?: string[] },
): Promise<Result> => {
  signal.throwIfAborted();
  const child = fork(entry, [file], { serialization: "advanced", execArgv: nodeArgs });
  const exited = once(child, "exit");
  const kill = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  let answer: JobAnswer | undefined;
  child.once("message", (message: JobAnswer) => {
    answer = message;
  });
  child.send({ input });
  const [code] = await exited.finally(() => signal.removeEventListener("abort", kill));
  signal.throwIfAborted();
  if (!answer) throw new Error(`the load process ended with ${code} and gave no result`);
  if ("error" in answer) throw new Error(`the load process failed: ${answer.error}`);
  return answer.result as Result;
};
