import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../log.ts";
import { isTransient } from "./kube-error.ts";

const firstPauseMs = 200;
const lastPauseMs = 5000;

/**
 * Repeats `work` while the API server is away; throws its last error when `signal` is aborted, and at once an error that a
 * repetition does not cure. `work` must be safe to repeat.
 */
export const whileUnreachable = async <T>(
  work: () => Promise<T>,
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<T> => {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, lastPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      log.warn({ reason: (error as Error).message, pauseMs }, "the Kubernetes API does not answer; trying again");
      await sleep(pauseMs, undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
};
