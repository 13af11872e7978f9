/** What the main thread and the thread of a target say to each other. */
import type { Finding } from "./finding.ts";

/** `cases`, `seconds`: the run ends by whichever is reached first. `only`: this case alone. */
export type Order = {
  target: string;
  /** URL of the module that exports the target. */
  module: string;
  seed: number;
  cases: number;
  seconds: number;
  only?: number | undefined;
  /** One number of 32 bits: the case that runs, below 0 before the first. */
  running: SharedArrayBuffer;
};

/** `cases`: that are done so far. `longestMs`: of one case. */
export type Progress = { cases: number; longestMs: number };

export type Told = { progress: Progress } | { finding: Finding } | { done: Progress };
