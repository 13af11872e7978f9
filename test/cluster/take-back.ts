/**
 * Takes back what `npm run test:cluster` has brought up, when it was killed. Does nothing when it has done so itself.
 */
import { resolve } from "node:path";
import { takeBackLeft } from "./setup/made.ts";
import { programRunner } from "./setup/programs.ts";

const logFile = resolve(import.meta.dirname, "../../.browserpool/cluster/log");

/** Longest time, ms. */
const timeoutMs = 5 * 60_000;

await takeBackLeft(programRunner(process.env, { logFile, signal: AbortSignal.timeout(timeoutMs) }));
