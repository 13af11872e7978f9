/**
 * What the audit stream says of a request (AUDIT-1). The facts are collected on the request's way, and never contain
 * what a caller sent, unless it is the name or id of an object that exists: a caller may send a secret anywhere, by
 * mistake.
 */
import type { AuditedCall } from "../../platform/audit/audit-line.ts";
import type { AuditLog } from "../../platform/audit/audit-log.ts";
import type { ErrorCode } from "../../platform/base/errors.ts";
import type { Answer, Route, RouteInput } from "./route.ts";

/** The facts of a request so far. */
export type AuditFacts = Pick<AuditedCall, "request_id" | "address" | "key_id" | "project" | "verb" | "object"> &
  Pick<AuditedCall, "method" | "route" | "object_id" | "session" | "code" | "outcome"> & {
    /** When the request came, by `performance.now()`. */
    startedAtMs: number;
    /** Whether the request has a line whatever its result; the others have one only when they are refused. */
    isAlways: boolean;
    /** Whether the answer was an earlier one. */
    isRepeated: boolean;
    /** Whether a route is at work, which writes the line at its end, also when the caller has hung up. */
    isHeld: boolean;
  };

/** The facts of a request at its begin. */
export const newFacts = (request: { request_id: string; address: string; method: string | undefined }): AuditFacts => ({
  ...request,
  startedAtMs: performance.now(),
  key_id: null,
  project: null,
  verb: "none",
  object: "none",
  isAlways: false,
  isRepeated: false,
  isHeld: false,
});

const resultOf = (status: number, isRepeated: boolean): AuditedCall["result"] => {
  if (status === 401 || status === 403 || status === 429) return "refused";
  if (status >= 400) return "failed";
  return isRepeated ? "repeated" : "done";
};

/** Writes the line of a request, if it has a line. `status`: of the answer; 499: the caller has hung up. */
export const recordCall = (audit: AuditLog, facts: AuditFacts, status: number): void => {
  const { isAlways, isRepeated, isHeld, startedAtMs, ...call } = facts;
  const result = resultOf(status, isRepeated);
  const duration_ms = Math.round(performance.now() - startedAtMs);
  if (isAlways || result === "refused") audit.record({ ...call, result, status, duration_ms });
};

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/**
 * Ids in bodies. Bodies of requests are checked by then, and have one of these only if it is the id of a session. Read
 * by hand: many answers have no body, for which a schema makes an error.
 */
const idsIn = (body: unknown) => {
  const { id, session_id, browser_id } = (body ?? {}) as Record<string, unknown>;
  return { id: text(id), session_id: text(session_id), browser_id: text(browser_id) };
};

/** Notes the path of a route with the values of its parameters: the objects that they name exist. */
const notePath = (facts: AuditFacts, path: string, params: Record<string, unknown> = {}): void => {
  facts.object = path.replace(/\{(\w+)\}/g, (form, name) => String(params[name] ?? form));
  if (facts.object !== path) facts.route = path;
};

/** Notes the route of a request. */
export const noteRoute = (facts: AuditFacts, { operationId, path, method, isAudited, onlyReads }: Route): void => {
  facts.verb = operationId;
  facts.object = path;
  facts.isAlways = isAudited ?? (method !== "get" && !onlyReads);
};

/** Notes whom a request is from, once that is known. */
export const noteCaller = (
  facts: AuditFacts,
  // biome-ignore lint/suspicious/noExplicitAny: as Route is
  { principal, project }: Partial<Pick<RouteInput<any, any, any>, "principal" | "project">>,
): void => {
  facts.key_id = principal?.keyId ?? facts.key_id;
  facts.project = project?.id ?? facts.project;
};

// biome-ignore lint/suspicious/noExplicitAny: as Route is
type Input = RouteInput<any, any, any>;

/** Notes the objects of a request that was carried out: then those that it names exist, or existed until now. */
export const noteAnswer = (
  facts: AuditFacts,
  { path, outcomeOf }: Route,
  { params, body }: Input,
  answer: Answer,
): void => {
  const [asked, answered] = [idsIn(body), idsIn(answer.body)];
  const outcome = outcomeOf?.(answer.body);
  const session = answered.session_id ?? asked.session_id ?? asked.browser_id;
  notePath(facts, path, params);
  if (answered.id !== undefined) facts.object_id = answered.id;
  if (session !== undefined) facts.session = session;
  if (outcome !== undefined) facts.outcome = outcome;
};

/**
 * Notes the error of a request. The objects that it names are known if the route has looked them up before this error.
 */
export const noteError = (facts: AuditFacts, code: ErrorCode, route: Route, input: Input | undefined): void => {
  facts.code = code;
  if (!input || !route.errorsAfterLookup?.includes(code)) return;
  notePath(facts, route.path, input.params);
  const { session_id, browser_id } = idsIn(input.body);
  const session = session_id ?? browser_id;
  if (session !== undefined) facts.session = session;
};
