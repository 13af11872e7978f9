/** The child process of `own-process.ts`: runs one job and ends. Its argument is the job's file. */
import { once } from "node:events";
import { inspect } from "node:util";
import type { Job, JobAnswer } from "./own-process.ts";

const answer = (message: JobAnswer): void => {
  process.send?.(message, () => process.disconnect());
};

const stop = new AbortController();
process.once("disconnect", () => stop.abort());

const [{ input }] = (await once(process, "message")) as [{ input: unknown }];
try {
  const { run } = (await import(process.argv[2] ?? "")) as { run: Job<unknown, unknown> };
  answer({ result: await run(input, stop.signal) });
} catch (error) {
  answer({ error: inspect(error) });
}
