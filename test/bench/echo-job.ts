/** A job of `own-process.test.ts`. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Job } from "../../bench/own-process.ts";

export const run: Job<{ what: string; figures: Float64Array }, unknown> = async ({ what, figures }, signal) => {
  if (what === "fail") throw new Error("no such browser");
  if (what === "hang") await sleep(60_000, undefined, { signal });
  if (what === "die") process.exit(3);
  return { pid: process.pid, doubled: figures.map((figure) => figure * 2) };
};
