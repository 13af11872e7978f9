/**
 * Load from a process of its own, so that making it does not slow what is measured in this one. A job is a file that
 * exports `run(input, signal)`; input and result travel as structured clones.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export type Job<Input, Result> = (input: Input, signal: AbortSignal) => Promise<Result>;

/** What the process answers with (`own-process-entry.ts`). */
export type JobAnswer = { result: unknown } | { error: string };

const entry = join(import.meta.dirname, "own-process-entry.ts");

/** Runs the job of `file` to its end. Rejects with the job's error; when `signal` aborts, the process is killed. */
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
  if (!answer) throw new Error(`the load process ended with ${code} and without a result`);
  if ("error" in answer) throw new Error(`the load process failed: ${answer.error}`);
  return answer.result as Result;
};
