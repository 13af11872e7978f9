import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The allowed form of a caller's request id; a request with any other id gets a generated one. */
const requestIdPattern = /^[\w.:-]{1,128}$/;

/** The caller's `X-Request-Id`, or a new one (HTTP-23). */
export const requestIdOf = (headers: IncomingHttpHeaders): string => {
  const given = headers["x-request-id"];
  return typeof given === "string" && requestIdPattern.test(given) ? given : randomUUID();
};
