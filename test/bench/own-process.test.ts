import { join } from "node:path";
import { expect, test } from "vitest";
import { runInOwnProcess } from "../../bench/own-process.ts";
import { eventually } from "../support/eventually.ts";
import { processesOf } from "../support/processes.ts";

const job = join(import.meta.dirname, "echo-job.ts");
const { signal } = new AbortController();
const figures = Float64Array.of(1, 2.5);

test("a job runs in another process, and its result comes back unchanged", async () => {
  const { pid, doubled } = await runInOwnProcess<unknown, { pid: number; doubled: Float64Array }>(
    job,
    { what: "double", figures },
    { signal },
  );
  expect(pid).not.toBe(process.pid);
  expect(doubled).toEqual(Float64Array.of(2, 5));
});

test("a job that fails or dies rejects with the reason", async () => {
  await expect(runInOwnProcess(job, { what: "fail", figures }, { signal })).rejects.toThrow("no such browser");
  await expect(runInOwnProcess(job, { what: "die", figures }, { signal })).rejects.toThrow("ended with 3");
});

test("a run that is stopped ends its process", async () => {
  const stop = new AbortController();
  const running = runInOwnProcess(job, { what: "hang", figures }, { signal: stop.signal });
  await eventually("the job runs", async () => (await processesOf(job)).length > 0);
  stop.abort(new Error("stopped by hand"));
  await expect(running).rejects.toThrow("stopped by hand");
  expect(await processesOf(job)).toEqual([]);
});
