import { AppError } from "../../../platform/base/errors.ts";
import { awaitWith } from "../../../platform/base/retry.ts";

/** What a fill waits for when its time runs out. */
const waits = {
  request: "before the request had arrived",
  service: "before the service had read what the fill needs",
  browser: "before the browser and the page were ready for the first write; they may be busy or show a dialog",
};
type WaitsFor = keyof typeof waits;

/** Time after which a caller may try again, s. */
export const busySeconds = 1;

/** The time of one fill: `timeout_ms` from the arrival of the request (FILL-45). */
export type FillTime = {
  /** Time that is left, ms; 0 when it is over. */
  leftMs(): number;
  /**
   * Result of a step before the first write. Rejects with `late(waitsFor)` when the time is over, or with the signal's
   * reason.
   */
  until<T>(step: Promise<T>, waitsFor: WaitsFor): Promise<T>;
  /**
   * The error for a fill whose time was over before its first write: `browser_not_ready`, with the inner code
   * `timeout`.
   */
  late(waitsFor: WaitsFor): AppError;
};

/** `arrivedAtMs`: by `performance.now()`. `signal`: ends the fill before its time. */
export const fillTime = (
  { arrivedAtMs, timeoutMs }: { arrivedAtMs: number; timeoutMs: number },
  signal: AbortSignal,
): FillTime => {
  const leftMs = (): number => Math.max(0, arrivedAtMs + timeoutMs - performance.now());
  const over = AbortSignal.timeout(Math.ceil(leftMs()));
  const either = AbortSignal.any([signal, over]);
  const late = (waitsFor: WaitsFor): AppError => {
    const message = `the ${timeoutMs} ms were over ${waits[waitsFor]}; nothing was written`;
    return new AppError("browser_not_ready", `timeout_ms: ${message}`, {
      details: [{ code: "timeout", path: "timeout_ms", message }],
      retryAfterSeconds: busySeconds,
    });
  };
  return {
    leftMs,
    late,
    async until(step, waitsFor) {
      try {
        return await awaitWith(step, either);
      } catch (error) {
        throw error === over.reason && over.aborted ? late(waitsFor) : error;
      }
    },
  };
};
