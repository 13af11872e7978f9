import { AppError, httpStatus } from "../../platform/base/errors.ts";
import type { PoolAcquireResult } from "../metrics/acquire-metrics.ts";

/** What metrics say of a request for a browser that failed with `error`. `signal`: aborted when its caller is gone. */
export const failedResult = (error: unknown, signal: AbortSignal): PoolAcquireResult => {
  if (signal.aborted) return "cancelled";
  if (!(error instanceof AppError)) return "error";
  if (error.code === "browser_not_started") return "not_started";
  return httpStatus[error.code] < 500 ? "refused" : "error";
};
