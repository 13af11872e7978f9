import { z } from "zod";
import type { Logger } from "../base/log.ts";
import { doubling, retry } from "../base/retry.ts";

/**
 * An error of the Kubernetes API. `reason` is the API's own (`NotFound`, `Conflict`, `AlreadyExists`, `Invalid`,
 * `Forbidden`, …), or `Unreachable` when no answer came; `status` is the HTTP status, 0 without an answer. The message
 * is the API's and names the object and the field. Bodies and headers are never kept: they may contain secrets.
 */
export class KubeError extends Error {
  override name = "KubeError";
  readonly reason: string;
  readonly status: number;

  constructor(reason: string, status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.status = status;
  }
}

/** True when a retry of the same call can succeed: after no answer, a time-out, throttling or a server error. */
export const isTransient = (error: unknown): boolean =>
  error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500);

/** Whether the API server refused with this reason, such as `AlreadyExists` or `Conflict`. */
export const hasReason = (error: unknown, reason: string): boolean =>
  error instanceof KubeError && error.reason === reason;

const text = z.string().optional().catch(undefined);
const Status = z.object({ reason: text, message: text, code: z.number().optional().catch(undefined) });

/** What a Status object of the API says; empty for anything else. */
export const statusOf = (answer: unknown): z.infer<typeof Status> => Status.safeParse(answer).data ?? {};

const firstPauseMs = 200;
const lastPauseMs = 5000;

/**
 * Repeats `work` while the API server is away; throws its last error when `signal` is aborted, and at once an error
 * that a repetition does not cure. `work` must be safe to repeat.
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
