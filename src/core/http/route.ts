import type { FileHandle } from "node:fs/promises";
import { z } from "zod";
import type { AuditedCall } from "../../platform/audit/audit-line.ts";
import type { ErrorCode } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { Principal } from "../api-keys/api-keys.ts";
import type { Permission, ProjectPermission } from "../model/permission.ts";
import type { Project } from "../projects/projects.ts";
import type { CallUpload } from "../protocol/browser-call.ts";
import { type FindUsableDeps, findUsable } from "../sessions/authorize-session.ts";
import type { FoundSession } from "../sessions/find-session.ts";
import type { BytesBody } from "./middleware/stream-body.ts";

export type Method = "get" | "post" | "put" | "patch" | "delete";

/**
 * A file as an answer. `body` is read once, or the request's signal is aborted. `bytes`: undefined when it is not known
 * before. `isShown`: a web browser shows it instead of saving it.
 */
export type FileAnswer = {
  body: AsyncIterable<Uint8Array>;
  type: string;
  name: string;
  bytes: number | undefined;
  isShown?: boolean;
};

/**
 * One event of a stream. `id`: a word, by which a reader that connects again says what it has seen. `data`: sent as
 * JSON; `json`: is JSON already.
 */
export type ServerEvent = { id?: string } & ({ data: unknown } | { json: string });

/** The events of a stream; several at once are sent together. */
export type ServerEvents = AsyncIterable<ServerEvent | readonly ServerEvent[]>;

/** A handler's answer; without a body it has no content type either. */
export type Answer = {
  status: number;
  body?: unknown;
  /** In the place of `body`; only of a GET, since it can't be kept for repetitions. */
  file?: FileAnswer;
  /**
   * In the place of `body`; only of a GET. Sent as server-sent events until it ends (sse.ts). It must end when the
   * request's signal is aborted. What it throws is the last event.
   */
  events?: ServerEvents;
  headers?: Record<string, string>;
  /** Called when the connection broke before the answer was written. */
  undelivered?: () => void;
};

/**
 * One successful answer, for OpenAPI. In the place of `schema`, `files`: the content types of a file; `events`: the
 * data of one event of a stream.
 */
type Answers = Record<
  number,
  { description: string; schema?: z.ZodType; files?: readonly string[]; events?: z.ZodType }
>;

type Infer<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** Whose rights are needed: any key within its project, or a key of the organization. */
type Scope = "project" | "organization";

/**
 * The permission of a route: routes of the organization need `organization`, all others one that keys of a project can
 * have, or none (undefined) where any key will do.
 */
type PermissionOf<Of extends Scope> = Of extends "organization" ? "organization" : ProjectPermission | undefined;

/** A permission that only some requests of a route need, besides the route's own. */
export type FurtherPermission = {
  permission: Permission;
  /** Which requests, for the documentation, after "when". */
  when: string;
  // biome-ignore lint/suspicious/noExplicitAny: as Route is
  applies(body: any): boolean;
};

/** What is known of a request with a bad query or body. */
type InvalidInput = "params" | "principal" | "project" | "deps";
/**
 * `mostBytes`: of the file. `type`: its content type, for the documentation. `fields`: the form's other fields; the
 * rest is ignored.
 */
export type UploadContract = { mostBytes: number; type: string; description: string; fields: readonly string[] };

/** A file that a caller has sent, on this replica's disk until the answer is sent. */
export type UploadedFile = { handle: FileHandle; sha256: string };

type RouteContract<Params, Query, Body, Of extends Scope = Scope, Deps = unknown> = {
  method: Method;
  /** In OpenAPI's form: `/browser_pools/{id_or_name}`. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  /** What the documentation says besides, in whole sentences. */
  description?: string;
  /** The required key: any key, within its project, or a key of the organization. */
  scope: Of;
  /** What the key must be allowed to do (AUTH-11). It is checked before the body is read. */
  permission: PermissionOf<Of>;
  /**
   * Whether it is also served in a project whose namespace is being deleted: callers see how their sessions ended, and
   * end them.
   */
  alsoLeaving?: boolean;
  /** Checked before the handler runs. */
  furtherPermissions?: FurtherPermission[];
  params?: Params;
  query?: Query;
  body?: Body;
  /** Largest body, bytes; by default 1 MiB. */
  bodyLimit?: number;
  /** Most entries of its body (body-entries.ts); by default 2000. */
  bodyEntries?: number;
  /** The body is a multipart form with one file, in the field `file`, and the fields of `body` as texts. */
  upload?: UploadContract;
  /** The body is passed on as it comes. */
  stream?: CallUpload;
  answers: Answers;
  /** A request and an answer, for the documentation. */
  examples?: { body?: Record<string, unknown>; answer?: Record<string, unknown> };
  errors: ErrorCode[];
  /** Whether a stream's reader may say by `Last-Event-ID` what it has seen. */
  resumes?: boolean;
  /** Whether a GET has an audit line too; all other methods have one, unless they only read. */
  isAudited?: boolean;
  /**
   * Whether a POST changes nothing: its answers are not kept for repetitions, and have an audit line only when refused.
   */
  onlyReads?: boolean;
  /** What its audit line says of an answer, if the answer tells an outcome. */
  outcomeOf?(answer: unknown): AuditedCall["outcome"];
  /**
   * Called when a request is refused for its query or body, after its caller, permission and project were checked.
   * Never rejects.
   */
  onInvalid?: (
    input: Pick<RouteInput<Params, undefined, undefined, Of, Deps>, InvalidInput>,
    code: ErrorCode,
  ) => Promise<void>;
  /** Errors after the objects of the path and the session of the body were found: then the audit line names them. */
  errorsAfterLookup?: ErrorCode[];
};

/** `Deps`: what the use case of the route needs. */
export type RouteInput<Params, Query, Body, Of extends Scope = Scope, Deps = unknown> = {
  params: Infer<Params>;
  query: Infer<Query>;
  body: Infer<Body>;
  /** What a route with `upload` gets; others have none. */
  file: UploadedFile | undefined;
  /** What a route with `stream` gets. */
  bytes: BytesBody | undefined;
  principal: Principal;
  /**
   * The project of the request, checked and active, or leaving where the route allows that. Requests to the
   * organization have none.
   */
  project: Of extends "project" ? Project : undefined;
  /** The URL by which the caller reached this service, e.g. `http://127.0.0.1:8080`. */
  baseUrl: string;
  deps: Deps;
  log: Logger;
  /** The header `Last-Event-ID`: the id of the last event that the reader of a stream has seen. */
  lastEventId: string | undefined;
  /** The header `Range`: the part of a file that is asked for. */
  range: string | undefined;
  /** When the request arrived here, by `performance.now()`: before its body, for which it may have waited. */
  arrivedAtMs: number;
  /** Aborted when the caller is gone or the service is stopping: for a route with events, at the begin of its stop. */
  signal: AbortSignal;
};

/**
 * The stream of a session that was found by a key or a token (app.ts). Where it begins is settled when this resolves.
 */
type StreamOfSession<Query, Deps> = (
  found: FoundSession,
  asked: { params: Record<string, string>; query: Query; lastEventId: string | undefined },
  deps: Deps,
  signal: AbortSignal,
) => Promise<ServerEvents>;

/** A call of a session's holder to what is beside its browser (core/api/browser-call-route.ts). */
type CallOfSession<Deps> = (
  found: FoundSession,
  // biome-ignore lint/suspicious/noExplicitAny: as Route is
  given: { params: any; query: any; body: any; bytes: BytesBody | undefined; baseUrl: string },
  deps: Deps,
  signal: AbortSignal,
) => Promise<Answer>;

/** One operation of the API. `Deps`: what its handlers need of the services. */
// biome-ignore lint/suspicious/noExplicitAny: the table of routes holds routes of every shape
export type Route<Deps = any> = RouteContract<any, any, any, any, Deps> & {
  // Functions, not methods: a route that needs more than the services have is refused by the type checker.
  // biome-ignore lint/suspicious/noExplicitAny: as above
  handle: (input: RouteInput<any, any, any, any, Deps>) => Promise<Answer>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  streamOfSession?: StreamOfSession<any, Deps>;
  callOfSession?: CallOfSession<Deps>;
};

/** Whether an answer of this route is kept for repetitions of its request (HTTP-21), which are known by their body. */
export const isRepeatable = ({ method, onlyReads, stream }: Pick<Route, "method" | "onlyReads" | "stream">): boolean =>
  method === "post" && !onlyReads && !stream;

/** Whether a route answers with a stream of events. */
export const isStream = ({ answers }: Pick<Route, "answers">): boolean =>
  Object.values(answers).some(({ events }) => events !== undefined);

/**
 * Returns what defines operations of the API whose use cases need `Deps`: by a contract, which OpenAPI is also made
 * from, and a handler that calls one use case.
 */
export const routesWith =
  <Deps>() =>
  <
    Params extends z.ZodType | undefined = undefined,
    Query extends z.ZodType | undefined = undefined,
    Body extends z.ZodType | undefined = undefined,
    const Of extends Scope = Scope,
  >(
    contract: RouteContract<Params, Query, Body, Of, Deps>,
    handle: (input: RouteInput<Params, Query, Body, Of, Deps>) => Promise<Answer>,
  ): Route<Deps> => ({ ...contract, handle });

const SessionParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The session's id or name.") });

type StreamContract<Query> = Pick<
  RouteContract<undefined, Query, undefined, "project">,
  "operationId" | "summary" | "query" | "answers" | "errors" | "resumes"
> & {
  /** What follows `/browsers/{id_or_name}/`. */
  name: string;
  /** What its path has besides. */
  params?: z.ZodObject;
};

/** Returns what defines streams of a session's events, for holders of its token too. */
export const sessionStreamsWith =
  <Deps>() =>
  <Query extends z.ZodType>(
    { name, params: further, ...contract }: StreamContract<Query>,
    streamOfSession: StreamOfSession<z.output<Query>, Deps>,
  ): Route<Deps & FindUsableDeps> => ({
    ...routesWith<Deps & FindUsableDeps>()(
      {
        method: "get",
        path: `/browsers/{id_or_name}/${name}`,
        tag: "Browsers",
        scope: "project",
        permission: "browsers:use",
        params: further ? SessionParams.extend(further.shape) : SessionParams,
        ...contract,
      },
      async ({ params: given, query, lastEventId, project, principal, deps, signal }) => {
        const params = given as z.output<typeof SessionParams> & Record<string, string>;
        const found = await findUsable(params.id_or_name, { project, principal }, deps);
        // `Infer` can't tell that there is a schema here.
        const asked = { params, query: query as z.output<Query>, lastEventId };
        return { status: 200, events: await streamOfSession(found, asked, deps, signal) };
      },
    ),
    streamOfSession,
  });
