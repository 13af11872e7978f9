import type { z } from "zod";
import type { ErrorCode } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { Principal } from "../services/api-keys/api-keys.ts";
import type { Project } from "../services/projects/projects.ts";
import type { ServiceDeps } from "../services/service-deps.ts";

export type Method = "get" | "post" | "put" | "patch" | "delete";

/** What a handler answers; no body means no content type either. */
export type Answer = {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** Called when the connection broke off before the answer was written out. */
  undelivered?: () => void;
};

/** One successful answer, for OpenAPI. */
export type Answers = Record<number, { description: string; schema?: z.ZodType }>;

type Infer<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** Whose rights are needed: any key within its project, or a key of the organization. */
export type Scope = "project" | "organization";

export type RouteContract<Params, Query, Body, Of extends Scope = Scope> = {
  method: Method;
  /** OpenAPI's way: `/browser_pools/{id_or_name}`. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  scope: Of;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Largest body in bytes; 1 MiB when left out. */
  bodyLimit?: number;
  answers: Answers;
  errors: ErrorCode[];
};

export type RouteInput<Params, Query, Body, Of extends Scope = Scope> = {
  params: Infer<Params>;
  query: Infer<Query>;
  body: Infer<Body>;
  principal: Principal;
  /** The project of the request, checked and active; requests to the organization are about none. */
  project: Of extends "project" ? Project : undefined;
  /** Where the caller reached us, e.g. `http://127.0.0.1:8080`. */
  baseUrl: string;
  deps: ServiceDeps;
  log: Logger;
  /** Aborted when the caller is gone or the service stops. */
  signal: AbortSignal;
};

// biome-ignore lint/suspicious/noExplicitAny: the table of routes holds routes of every shape
export type Route = RouteContract<any, any, any> & { handle(input: RouteInput<any, any, any>): Promise<Answer> };

/** One operation of the API: its contract, of which OpenAPI is made too, and a handler that calls one use case. */
export const defineRoute = <
  Params extends z.ZodType | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  const Of extends Scope = Scope,
>(
  contract: RouteContract<Params, Query, Body, Of>,
  handle: (input: RouteInput<Params, Query, Body, Of>) => Promise<Answer>,
): Route => ({ ...contract, handle });
