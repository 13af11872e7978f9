/**
 * The errors that this service answers with. Expected outcomes of a protocol are return values; an `AppError`
 * is what a caller did wrong or what is out of order, and reaches the caller in the one shape of errors (HTTP-1).
 */

/** HTTP status of every error code; the union of codes is read off this table. */
export const httpStatus = {
  bad_request: 400,
  field_unavailable: 400,
  page_not_found: 400,
  page_ambiguous: 400,
  invalid_selector: 400,
  element_not_found: 400,
  ambiguous_selector: 400,
  element_not_editable: 400,
  duplicate_target: 400,
  unauthorized: 401,
  forbidden: 403,
  vault_not_attached: 403,
  origin_not_allowed: 403,
  not_found: 404,
  project_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  name_taken: 409,
  pool_in_use: 409,
  no_saved_credential: 409,
  connection_in_other_project: 409,
  external_credential_provider: 409,
  item_unavailable: 409,
  browser_not_ready: 409,
  fill_in_progress: 409,
  idempotency_key_reused: 409,
  idempotency_in_progress: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  headers_too_large: 431,
  internal_error: 500,
  not_implemented: 501,
  unavailable: 503,
  browser_not_started: 503,
} as const;

export type ErrorCode = keyof typeof httpStatus;

/** One bad field or one further error. `path` is the field as the caller wrote it, e.g. `viewport.width`. */
export type ErrorDetail = { code?: string; message: string; path?: string };

export type AppErrorOptions = ErrorOptions & {
  details?: ErrorDetail[];
  /** Seconds after which a repetition can succeed; sent as `Retry-After`. */
  retryAfterSeconds?: number;
};

/** An error that is meant for the caller. The message names the object, what was expected and the way out; never a secret. */
export class AppError extends Error {
  override name = "AppError";
  readonly code: ErrorCode;
  readonly details: ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** `bad_request` with one detail per bad field (HTTP-2). */
export const invalidInput = (details: ErrorDetail[]): AppError =>
  new AppError(
    "bad_request",
    details.map((d) => (d.path ? `${d.path}: ${d.message}` : d.message)).join("; ") || "invalid input",
    { details: details.map((d) => ({ code: "invalid_input", ...d })) },
  );

/** `unavailable`: a part that the request needs does not answer now; the caller may repeat after a second. */
export const unavailable = (what: string, cause?: unknown): AppError =>
  new AppError("unavailable", `${what} does not answer now; repeat the request`, { cause, retryAfterSeconds: 1 });
