/**
 * What a request carries along on its way. Express leaves the type of `locals` open: it is read and written here alone.
 */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Response } from "express";
import type { Logger } from "../../platform/base/log.ts";
import type { AuditFacts } from "./audit-call.ts";

/** The allowed form of a caller's request id; a request with any other id gets a generated one. */
const requestIdPattern = /^[\w.:-]{1,128}$/;

/** The caller's `X-Request-Id`, or a new one (HTTP-23). */
export const requestIdOf = (headers: IncomingHttpHeaders): string => {
  const given = headers["x-request-id"];
  return typeof given === "string" && requestIdPattern.test(given) ? given : randomUUID();
};

/** The request's logger, which adds its id. The first handler of all sets it. */
export const logOf = (response: Response): Logger => response.locals.log;

/** To be called once, before anything is done with the request. */
export const setLog = (response: Response, log: Logger): void => {
  response.locals.log = log;
};

/** The path of the request's route as its contract writes it; undefined before it is known. */
export const routeOf = (response: Response): string | undefined => response.locals.route;

/** To be called as soon as a route is chosen: metrics and the log name it. */
export const setRoute = (response: Response, path: string): void => {
  response.locals.route = path;
};

/** What the audit stream will say of the request. The first handler of all sets it. */
export const factsOf = (response: Response): AuditFacts => response.locals.audit;

/** To be called once, before anything is done with the request. */
export const setFacts = (response: Response, facts: AuditFacts): void => {
  response.locals.audit = facts;
};

const ignoredHeader = "X-Ignored-Fields";

/** The fields of the request that are ignored, as the answer names them. */
export const ignoredOf = (response: Response): string | undefined => response.get(ignoredHeader);

/** To be called before the answer begins. */
export const setIgnored = (response: Response, fields: string | undefined): void => {
  if (fields !== undefined) response.set(ignoredHeader, fields);
};

/** When the request arrived here, by `performance.now()`. */
export const arrivalOf = (response: Response): number => response.locals.arrivedAtMs;

/** To be called once, before anything is done with the request. */
export const setArrival = (response: Response, arrivedAtMs: number): void => {
  response.locals.arrivedAtMs = arrivedAtMs;
};
