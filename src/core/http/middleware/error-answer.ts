import type { Response } from "express";
import { AppError, type ErrorCode, httpStatus } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";

/**
 * Codes after which a retry of the same request can succeed; with all others, a header tells the SDK not to retry
 * (HTTP-19).
 */
const retryable = new Set<ErrorCode>([
  "unavailable",
  "too_many_requests",
  "rate_limited",
  "idempotency_in_progress",
  "internal_error",
  "request_timeout",
  "browser_not_ready",
  "fill_in_progress",
  "browser_not_started",
]);

/** The wire shape of an error (HTTP-1). */
type ErrorBody = {
  code: string;
  message: string;
  details?: { code: string; message: string }[];
  inner_error?: { code: string; message: string };
};

/** The body of an error. `inner_error` repeats the first detail, which is more exact (HTTP-2). */
export const errorBody = ({ code, message, details }: AppError): ErrorBody => {
  const [first] = details;
  return {
    code,
    message,
    ...(first && {
      details: details.map((detail) => ({
        code: detail.code ?? code,
        message: detail.path ? `${detail.path}: ${detail.message}` : detail.message,
        ...(detail.path && { path: detail.path }),
      })),
      inner_error: { code: first.code ?? code, message: first.message },
    }),
  };
};

/** The headers of an error answer. */
export const errorHeaders = ({ code, retryAfterSeconds }: AppError): Record<string, string> => ({
  ...(code === "unauthorized" && { "WWW-Authenticate": "Bearer" }),
  ...(!retryable.has(code) && { "x-should-retry": "false" }),
  ...(retryAfterSeconds !== undefined && {
    "Retry-After": String(Math.ceil(retryAfterSeconds)),
    "retry-after-ms": String(Math.ceil(retryAfterSeconds * 1000)),
  }),
});

/** Converts any thrown value to an `AppError`. An unexpected error is logged and becomes `internal_error`. */
export const asAppError = (error: unknown, log: Logger): AppError => {
  if (error instanceof AppError) return error;
  log.error({ err: error }, "request failed unexpectedly");
  return new AppError("internal_error", "something went wrong here; the request id finds it in the log", {
    cause: error,
  });
};

/** Writes an error as the answer, unless an answer has begun. */
export const answerError = (response: Response, error: AppError): void => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.status(httpStatus[error.code]).set(errorHeaders(error)).json(errorBody(error));
};
