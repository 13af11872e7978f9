/** The errors of an operation as OpenAPI responses: one for each status, with its codes. */
import { STATUS_CODES } from "node:http";
import { AppError, type ErrorCode, httpStatus } from "../../../platform/base/errors.ts";
import { errorHeaders } from "../middleware/error-answer.ts";
import { isRepeatable, type Route } from "../route.ts";
import { type Json, schemaRef } from "./schemas.ts";

/** The meaning of each code for callers. */
const codeTexts: Record<ErrorCode, string> = {
  bad_request: "A field of the request is not valid; `details` names each one.",
  not_supported_here: "This installation can't carry out a setting of the request; `details` names each one.",
  encryption_key_mismatch: "A value is encrypted to a key that no vault of the project has now: fetch the key again.",
  field_unavailable: "The item has no value of this name.",
  page_not_found: "No open page has this URL.",
  ambiguous_proxy_name: "Several proxies have this name; give the id.",
  ambiguous_api_key_name: "Several API keys have this name; give the id.",
  page_ambiguous: "More than one open page matches.",
  invalid_selector: "A given selector is not a CSS selector.",
  element_not_found: "A selector matches nothing in the page and its frames.",
  ambiguous_selector: "A selector matches more than one editable field.",
  element_not_editable: "A selector matches no field that can be written to.",
  duplicate_target: "Two bindings select the same field.",
  unauthorized: "The API key is missing, unknown or expired.",
  forbidden: "The API key is for another project, or lacks the permission that the message names.",
  vault_not_attached: "The vault is not attached to this browser.",
  origin_not_allowed: "The item may not be filled into a page of this origin.",
  not_found: "The project has no object with this id or name.",
  project_not_found: "The project does not exist or is not active.",
  another_product: "The path is one of another product, which this service is not (docs/surface.md).",
  method_not_allowed: "This path has other methods; `Allow` names them.",
  request_timeout: "The request did not arrive in time.",
  conflict: "The object was changed meanwhile, can't be changed so, or exists already.",
  name_taken: "Another object has this name.",
  stale_network: "The network rules are not those that the request expects; read them again.",
  pool_in_use: "Browsers of the pool are in use.",
  read_only: "The pool is owned by Git, or by whom its annotation browserpool.dev/managed-by names.",
  no_saved_credential: "The connection has no saved credential with a value or a TOTP secret.",
  connection_in_other_project: "The connection belongs to another project.",
  external_credential_provider: "An external provider keeps the connection's credential.",
  item_unavailable: "The item can't be used now; its `state.status_reason` says why.",
  browser_not_ready: "The browser or the page did not answer in time; nothing was written.",
  fill_in_progress: "Another fill runs in this browser.",
  idempotency_key_reused: "The Idempotency-Key was used with another body.",
  idempotency_in_progress: "The first request with this Idempotency-Key still runs.",
  payload_too_large: "The body is too large.",
  unsupported_media_type: "The body is not sent as application/json.",
  too_many_requests: "A limit is reached; repeat later.",
  rate_limited: "The API key, its project or the address has reached a bound of callers; repeat later.",
  headers_too_large: "The headers are too large.",
  internal_error: "Something went wrong in the service.",
  browser_not_started: "The browser could not be started; the message says why.",
  unavailable: "A part of the service does not answer now, or no browser is available; repeat the request.",
};

/** Codes with `Retry-After`: the time after which a retry can succeed. */
const timedCodes = new Set<ErrorCode>([
  "too_many_requests",
  "rate_limited",
  "unavailable",
  "idempotency_in_progress",
  "browser_not_ready",
  "fill_in_progress",
  "browser_not_started",
]);

/** The codes that any request can end with. */
const commonCodes: ErrorCode[] = [
  "unauthorized",
  "forbidden",
  "project_not_found",
  "rate_limited",
  "headers_too_large",
  "internal_error",
  "unavailable",
];

const codesOf = (route: Route): ErrorCode[] => {
  const { params, query, body, stream, errors, scope } = route;
  const hasKey = isRepeatable(route);
  const given = new Set<ErrorCode>([...errors, ...commonCodes]);
  // Of a route of a project already its two headers may be wrong together.
  if (params || query || body || hasKey || scope === "project") given.add("bad_request");
  if (body || stream) given.add("payload_too_large");
  if (body || stream?.type === "multipart/form-data") given.add("unsupported_media_type");
  if (hasKey) given.add("idempotency_key_reused").add("idempotency_in_progress");
  const codes: ReadonlySet<string> = given;
  return Object.keys(httpStatus).filter((code): code is ErrorCode => codes.has(code));
};

const text = { type: "string" };

const errorDetail = {
  type: "object",
  properties: { code: text, message: text, path: { ...text, description: "The field, e.g. `viewport.width`." } },
  required: ["code", "message"],
};

/** The body of every error (HTTP-1). */
export const errorSchema: Json = {
  type: "object",
  description: "The error. Programs use `code`; `message` is for people.",
  properties: {
    code: { ...text, enum: Object.keys(httpStatus) },
    message: text,
    details: { type: "array", items: errorDetail, description: "One for each bad field." },
    inner_error: {
      type: "object",
      description: "The first of `details`.",
      properties: { code: text, message: text },
      required: ["code", "message"],
    },
  },
  required: ["code", "message"],
};

/** The response headers of errors, by name. */
export const errorHeaderSchemas: Record<string, Json> = {
  "WWW-Authenticate": { description: "How to authenticate: `Bearer`.", schema: { type: "string" } },
  "Retry-After": { description: "Seconds after which to repeat the request.", schema: { type: "integer", minimum: 0 } },
  "retry-after-ms": { description: "The same in milliseconds.", schema: { type: "integer", minimum: 0 } },
  "x-should-retry": { description: "`false`: a repetition can't succeed.", schema: { ...text, enum: ["false"] } },
};

const headersOf = (codes: ErrorCode[]): string[] => {
  const errors = codes.map((code) => new AppError(code, "", timedCodes.has(code) ? { retryAfterSeconds: 1 } : {}));
  return [...new Set(["X-Request-Id", ...errors.flatMap((error) => Object.keys(errorHeaders(error)))])];
};

const responseOf = (status: number, codes: ErrorCode[]): Json => ({
  description: `${STATUS_CODES[status]}: ${codes.map((code) => `\`${code}\``).join(", ")}`,
  headers: Object.fromEntries(headersOf(codes).map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  content: {
    "application/json": {
      schema: schemaRef("Error"),
      examples: Object.fromEntries(codes.map((code) => [code, { value: { code, message: codeTexts[code] } }])),
    },
  },
});

/** The error responses of a route by status, as references into `shared`; it adds missing ones to `shared`. */
export const errorAnswers = (route: Route, shared: Map<string, Json>): Json => {
  const byStatus = Map.groupBy(codesOf(route), (code) => httpStatus[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const name = codes.join(".");
      if (!shared.has(name)) shared.set(name, responseOf(status, codes));
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
};
