/**
 * The errors of the HTTP API. Expected outcomes of a protocol are return values. An `AppError` is a caller's mistake or
 * a failure of the service; callers get every one in the same form (HTTP-1).
 */

/** HTTP status of every error code; the type `ErrorCode` is derived from this table. */
export const httpStatus = {
  bad_request: 400,
  not_supported_here: 400,
  encryption_key_mismatch: 400,
  ambiguous_proxy_name: 400,
  ambiguous_api_key_name: 400,
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
  another_product: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  name_taken: 409,
  stale_network: 409,
  pool_in_use: 409,
  read_only: 409,
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
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
  browser_not_started: 503,
} as const;

export type ErrorCode = keyof typeof httpStatus;

/** One bad field or one further error. `path`: the field in the caller's spelling, e.g. `viewport.width`. */
export type ErrorDetail = { code?: string; message: string; path?: string };

/**
 * Bounds of what one answer tells of a request, which can have very many bad fields with very long names (LIMIT-32).
 */
const mostDetails = 20;
const longestMessage = 4000;
const longestDetail = 500;

const shortened = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`;

const shortDetails = (details: ErrorDetail[]): ErrorDetail[] =>
  details.slice(0, mostDetails).map((detail) => ({
    ...detail,
    message: shortened(detail.message, longestDetail),
    ...(detail.path !== undefined && { path: shortened(detail.path, longestDetail) }),
  }));

type AppErrorOptions = ErrorOptions & {
  details?: ErrorDetail[];
  /** Seconds after which a retry can succeed; sent as `Retry-After`. */
  retryAfterSeconds?: number;
};

/** An error for the caller. The message names the object, what was expected and what to do; never a secret. */
export class AppError extends Error {
  override name = "AppError";
  readonly code: ErrorCode;
  readonly details: ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(shortened(message, longestMessage), options);
    this.code = code;
    this.details = shortDetails(options.details ?? []);
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

const fieldsError = (code: ErrorCode, innerCode: string, all: ErrorDetail[]): AppError => {
  const details = shortDetails(all);
  const texts = details.map((d) => (d.path ? `${d.path}: ${d.message}` : d.message));
  if (all.length > details.length) texts.push(`and ${all.length - details.length} more`);
  return new AppError(code, texts.join("; ") || "invalid input", {
    details: details.map((d) => ({ code: innerCode, ...d })),
  });
};

/** `bad_request` with one detail for each bad field (HTTP-2), of the first ones. */
export const invalidInput = (details: ErrorDetail[]): AppError => fieldsError("bad_request", "invalid_input", details);

/**
 * `not_supported_here` with one detail for each setting that this installation can't carry out (HTTP-30). Each message
 * says why, and which value is accepted instead.
 */
export const notSupportedHere = (details: ErrorDetail[]): AppError =>
  fieldsError("not_supported_here", "not_supported_here", details);

/** A name that several objects have, where one is meant. `what`: who has it. */
export const ambiguousName = (
  code: "ambiguous_proxy_name" | "ambiguous_api_key_name",
  what: string,
  ids: readonly string[],
): AppError =>
  new AppError(
    code,
    `${ids.length} ${what} (${ids.slice(0, 3).join(", ")}${ids.length > 3 ? ", …" : ""}): give the id`,
  );

/** `unavailable`: a part that the request needs does not answer now; the caller may retry after a second. */
export const unavailable = (what: string, cause?: unknown): AppError =>
  new AppError("unavailable", `${what} does not answer now; repeat the request`, { cause, retryAfterSeconds: 1 });
