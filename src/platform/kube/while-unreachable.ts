import type { Logger } from "../base/log.ts";
import { doubling, retry } from "../base/retry.ts";
import { isTransient } from "./kube-error.ts";

const firstPauseMs = 200;
const lastPauseMs = 5000;

/**
 * Repeats `work` while the API server is away; throws its last error when `signal` is aborted, and at once an error that a
 * repetition does not cure. `work` must be safe to repeat.
 */
export const whileUnreachable = <T>(
  work: () => Promise<T>,
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<T> =>
  retry(work, {
    isCurable: (error) => isTransient(error) && !signal.aborted,
    pauseMs: doubling(firstPauseMs, lastPauseMs),
    signal,
    abortThrows: "last error",
    onRetry(error, pauseMs) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason, pauseMs }, "the Kubernetes API does not answer; trying again");
    },
  });
