/**
 * Serves a request of a route in these steps: host, caller and its bounds, permission, project, body, repetition,
 * handler, answer.
 */
import type { Request, RequestHandler, Response } from "express";
import { abortWith } from "../../platform/base/abort-with.ts";
import { AppError, httpStatus } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { AnswerHolder } from "../../platform/redis/idempotent-answers.ts";
import type { Principal } from "../api-keys/api-keys.ts";
import type { Project } from "../projects/projects.ts";
import { answerOnce } from "./answer-once.ts";
import type { AppDeps, HttpServices } from "./app-deps.ts";
import { type AuditFacts, noteAnswer, noteCaller, noteError, recordCall } from "./audit-call.ts";
import { failedAttempt } from "./client-address.ts";
import { ignoredFields } from "./ignored-fields.ts";
import { authenticate, credentialOf, requirePermission, resolveProject } from "./middleware/authenticate.ts";
import { answerError, asAppError } from "./middleware/error-answer.ts";
import { baseUrlOf } from "./middleware/host-check.ts";
import { giveTurn, parseBody } from "./middleware/parse-body.ts";
import { receiveUpload } from "./middleware/receive-upload.ts";
import { streamBody } from "./middleware/stream-body.ts";
import { nestQuery, validate } from "./middleware/validate.ts";
import { arrivalOf, factsOf, logOf, setIgnored } from "./request-locals.ts";
import { type Answer, isRepeatable, isStream, type Route, type RouteInput, type UploadedFile } from "./route.ts";
import { fileHeaders, sendFile } from "./send-file.ts";
import { sendJson } from "./send-json.ts";
import { eventHeaders, sendEvents } from "./sse.ts";
import { refuseUnserved } from "./unserved-fields.ts";
import { callerGone } from "./until-closed.ts";

// biome-ignore lint/suspicious/noExplicitAny: as Route is
type Input = RouteInput<any, any, any, any, HttpServices>;

/** The status of a request whose caller has hung up, in audit lines. */
const hungUp = 499;

const jsonType = "application/json; charset=utf-8";

/** The reason with which the signal of a HEAD is aborted: nobody reads the body. */
const headOnly = (): AppError => new AppError("unavailable", "the request asks for no body");

/** The principal of a request, as `authenticate`; a failed attempt counts on the caller's address. */
export const authenticated = (request: Request, services: AppDeps["services"]): Principal => {
  try {
    return authenticate(request.headers, services);
  } catch (error) {
    throw failedAttempt(request, services, error);
  }
};

/** How a body is received. `enter`: counts an upload of the caller. */
type Receiving = { route: Route; signal: AbortSignal; enter: () => () => void };

/** What the URL of a request says. */
type Asked = { params: Record<string, unknown>; query: Record<string, unknown> };

/** Reads the body: JSON, or for some routes a form with a file, for which the caller's bound has room. */
const receiveBody = async (
  request: Request,
  response: Response,
  { route, signal, enter }: Receiving,
): Promise<Pick<Input, "file" | "bytes"> & { given: unknown }> => {
  const { upload, stream } = route;
  if (stream) {
    response.once("close", enter());
    const body = streamBody(request, stream);
    // A client that is answered before it has sent all reads the answer after that.
    response.once("finish", () => body.bytes.destroy());
    return { given: {}, file: undefined, bytes: body };
  }
  if (!upload) return { given: await parseBody(request, response, route), file: undefined, bytes: undefined };
  let handle: UploadedFile["handle"] | undefined;
  const leave = enter();
  response.once("close", () => {
    leave();
    void handle?.close();
  });
  const { fields, file } = await receiveUpload(request, upload, signal);
  handle = file.handle;
  // The caller hung up with its last byte.
  if (response.closed) await handle.close();
  // What a repetition is compared by.
  request.body = { ...fields, file: file.sha256 };
  return { given: fields, file, bytes: undefined };
};

const readQuery = ({ query: schema }: Pick<Route, "query">, query: Record<string, unknown>) =>
  schema ? nestQuery(query, schema) : query;

/** What the caller sent. Throws for the first part that is not valid. */
export const readGiven = async (
  request: Request,
  response: Response,
  { route, signal, enter }: Receiving,
  { params, query }: Asked = request,
): Promise<Pick<Input, "params" | "query" | "body" | "file" | "bytes">> => {
  const { given, file, bytes } = await receiveBody(request, response, { route, signal, enter });
  refuseUnserved(route.operationId, given, query);
  const asked = readQuery(route, query);
  setIgnored(response, ignoredFields(route, { body: given, query: asked }));
  return {
    params: route.params && validate(route.params, params),
    query: route.query && validate(route.query, asked),
    body: route.body && validate(route.body, given),
    file,
    bytes,
  };
};

/** The project of a request, which a route of the organization has not. Throws as `resolveProject`. */
const projectOf = (
  headers: Request["headers"],
  principal: Principal,
  { scope, alsoLeaving }: Route,
  { projects, config: { defaultProject } }: AppDeps["services"],
): Project | undefined => {
  if (scope !== "project") return undefined;
  const find = (idOrName: string): Project | undefined =>
    projects.find(idOrName) ?? (alsoLeaving ? projects.findLeaving(idOrName) : undefined);
  return resolveProject(headers, principal, { projects: { find }, defaultProject });
};

const readInput = async (
  request: Request,
  response: Response,
  {
    route,
    deps,
    signal,
    log,
    facts,
  }: { route: Route; deps: AppDeps; signal: AbortSignal; log: Logger; facts: AuditFacts },
): Promise<Input> => {
  const { config, callerLimits } = deps.services;
  const principal = authenticated(request, deps.services);
  noteCaller(facts, { principal });
  response.once("close", callerLimits.enter("key", principal.keyId));
  requirePermission(principal, route.permission);
  const project = projectOf(request.headers, principal, route, deps.services);
  noteCaller(facts, { project });
  if (project) response.once("close", callerLimits.enter("project", project.id));
  if (isStream(route))
    response.once("close", callerLimits.enterStream({ keyId: principal.keyId, projectId: project?.id }));
  const receiving = {
    route,
    signal,
    enter: () => callerLimits.enterUpload({ keyId: principal.keyId, projectId: project?.id }),
  };
  const { params, query, body, file, bytes } = await readGiven(request, response, receiving).catch(
    async (error: unknown) => {
      const given = route.params?.safeParse(request.params);
      if (route.onInvalid && given?.success)
        await route.onInvalid(
          { params: given.data, principal, project, deps: deps.services },
          asAppError(error, log).code,
        );
      throw error;
    },
  );
  await giveTurn(request);
  // Before an idempotent answer is looked up: a key that has lost the permission must not get it.
  for (const { permission, applies } of route.furtherPermissions ?? [])
    if (applies(body)) requirePermission(principal, permission);
  return {
    params,
    query,
    body,
    file,
    bytes,
    principal,
    project,
    baseUrl: baseUrlOf(request.headers, config),
    deps: deps.services,
    log,
    lastEventId: request.get("last-event-id"),
    range: request.get("range"),
    arrivedAtMs: arrivalOf(response),
    signal,
  };
};

/**
 * Throws `unauthorized` or `forbidden` for a key that was deleted or lost the permission since the request began, and
 * `project_not_found` when its project was archived or deleted.
 */
const requireAllowed = (headers: Request["headers"], services: AppDeps["services"], route: Route): void => {
  const principal = authenticate(headers, services);
  requirePermission(principal, route.permission);
  projectOf(headers, principal, route, services);
};

/**
 * Runs the handler. An answer that can be taken back may have taken long, because its caller had to wait: a key that
 * was deleted or lost the permission meanwhile gets nothing (AUTH-15), nor does one whose project was archived
 * (PROJECT-12). Throws as `requireAllowed`.
 */
const handle = async ({ headers }: Request, input: Input, route: Route): Promise<Answer> => {
  const answer = await route.handle(input);
  if (!answer.undelivered) return answer;
  try {
    requireAllowed(headers, input.deps, route);
    return answer;
  } catch (error) {
    answer.undelivered();
    throw error;
  }
};
const answerHolders = ({ principal, project }: Input, { services }: AppDeps): AnswerHolder[] => {
  const { key, project: ofProject } = services.config.callers.keptAnswerBytes;
  const holder = { id: `key/${principal.keyId}`, mostBytes: key };
  return project ? [holder, { id: `project/${project.id}`, mostBytes: ofProject }] : [holder];
};

const answerOf = async (
  request: Request,
  input: Input,
  { route, deps, facts }: { route: Route; deps: AppDeps; facts: AuditFacts },
): Promise<Answer> => {
  const key = request.headers["idempotency-key"];
  if (!isRepeatable(route) || typeof key !== "string" || key === "") return handle(request, input, route);
  const repeatable = {
    key,
    credential: credentialOf(request.headers, deps.services),
    operation: `${input.project?.id ?? "organization"} POST ${request.path}`,
    body: request.body,
    holders: answerHolders(input, deps),
    signal: input.signal,
  };
  facts.isRepeated = true;
  const limits = deps.services.callerLimits;
  const answer = await answerOnce(repeatable, { answers: deps.answers, limits, log: input.log }, () => {
    facts.isRepeated = false;
    return handle(request, input, route);
  });
  // A caller that lost its answer repeats the request and then gets the idempotent answer, so nothing is undone.
  return { ...answer, undelivered: () => undefined };
};

/**
 * The answer to a HEAD: what a GET would be told of its body. `over`: what a handler has opened for the body is closed
 * by it.
 */
const sendHead = (
  response: Response,
  { status, body, file, events, headers = {} }: Answer,
  over: AbortController,
): void => {
  response.status(status).set(headers);
  if (file) response.set(fileHeaders(file));
  else if (events) response.set(eventHeaders);
  else if (body !== undefined) response.setHeader("Content-Type", jsonType);
  over.abort(headOnly());
  response.end();
};

type Sending = {
  response: Response;
  signal: AbortSignal;
  log: Logger;
  requireAllowed: () => void;
  /** Counts the bytes of an answer of the caller. */
  enter: (bytes: number) => () => void;
};

/** Throws when a file can't be read to its end; the caller then gets fewer bytes than promised, or no end of them. */
export const send = async (sending: Sending, { status, body, file, events, headers = {} }: Answer): Promise<void> => {
  const { response } = sending;
  response.status(status).set(headers);
  if (file) await sendFile(response, file);
  else if (events) await sendEvents(response, events, sending);
  else if (body === undefined) response.end();
  else await sendJson(response, body, sending);
};

/** What only reads is refused when too much is under way to its caller; what has changed something is told of. */
const entering =
  ({ principal, project }: Input, { method }: Route, { services }: AppDeps) =>
  (bytes: number): (() => void) =>
    services.callerLimits.enterAnswer({ keyId: principal.keyId, projectId: project?.id }, bytes, method === "get");

/** The Express handler of a route. `deps.stopping` ends waiting requests with its reason, `deps.draining` streams. */
export const serveRoute = (route: Route, deps: AppDeps): RequestHandler => {
  const sources = isStream(route) ? [deps.stopping, deps.draining] : [deps.stopping];
  return async (request, response) => {
    const log = logOf(response);
    const over = new AbortController();
    const { signal } = over;
    const unfollow = sources.map((source) => abortWith(over, source));
    let isGone = false;
    let answer: Answer | undefined;
    response.on("close", () => {
      for (const leave of unfollow) leave();
      if (response.writableFinished) return;
      isGone = true;
      over.abort(callerGone());
      answer?.undelivered?.();
    });
    const mayRead = (): void => requireAllowed(request.headers, deps.services, route);
    const facts = factsOf(response);
    facts.isHeld = true;
    let input: Input | undefined;
    let status = hungUp;
    try {
      input = await readInput(request, response, { route, deps, signal, log, facts });
      answer = await answerOf(request, input, { route, deps, facts });
      noteAnswer(facts, route, input, answer);
      // What is taken back was not done.
      if (!isGone || !answer.undelivered) status = answer.status;
      // If the caller hung up while the answer was made, "close" came already.
      if (isGone) answer.undelivered?.();
      else if (request.method === "HEAD") sendHead(response, answer, over);
      else await send({ response, signal, log, requireAllowed: mayRead, enter: entering(input, route, deps) }, answer);
    } catch (error) {
      const known = asAppError(error, log);
      noteError(facts, known.code, route, input);
      // With an answer, the error is that of a file which broke off, whose caller has got a part.
      if (isGone && !answer) return;
      status = httpStatus[known.code];
      answerError(response, known);
    } finally {
      recordCall(deps.audit, facts, status);
    }
  };
};
