/**
 * Lets web pages of the allowed origins (BROWSERPOOL_ALLOWED_ORIGINS) call the API. A browser first asks with a
 * preflight whether they may, and then shows them the answers. Cookies play no part: a page shows its API key, as every
 * caller does.
 */
import type { Request, RequestHandler } from "express";
import type { Config } from "../../config/config.ts";

/** Headers of answers that pages may read besides those that every page may (such as `Content-Type`). */
const exposedHeaders = [
  "Allow",
  "Retry-After",
  "WWW-Authenticate",
  "X-Content-Sha256",
  "X-Has-More",
  "X-Ignored-Fields",
  "X-Next-Cursor",
  "X-Next-Offset",
  "X-Next-Page-Token",
  "X-Request-Id",
  "X-Row-Count",
  "X-Search-Cut",
  "retry-after-ms",
  "x-should-retry",
].join(", ");

/**
 * `*` allows the headers of every version of the SDK; it does not include `Authorization`. Without cookies no header is
 * a danger.
 */
const allowedHeaders = "Authorization, *";

/** How long a browser may keep the answer to a preflight, seconds. Chromium keeps none for longer. */
const maxAgeSeconds = 7200;

const isPreflight = ({ method, headers }: Request): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined;

/**
 * Marks answers to pages of allowed origins as readable, errors included, and answers their preflights itself: they
 * carry no key and must cost nothing. Pages of other origins get no header. It must run after the check of host and
 * origin. `methods`: in upper case.
 */
export const allowOrigins = (
  { allowedOrigins }: Pick<Config, "allowedOrigins">,
  methods: readonly string[],
): RequestHandler => {
  const allowedMethods = methods.join(", ");
  return (request, response, next) => {
    // Also without an Origin: a cache must not give that answer to a page.
    if (allowedOrigins.length > 0) response.vary("Origin");
    const { origin } = request.headers;
    if (origin === undefined || !allowedOrigins.includes(origin)) return void next();
    response.set("Access-Control-Allow-Origin", origin);
    if (!isPreflight(request)) {
      response.set("Access-Control-Expose-Headers", exposedHeaders);
      return void next();
    }
    response.set({
      "Access-Control-Allow-Methods": allowedMethods,
      "Access-Control-Allow-Headers": allowedHeaders,
      "Access-Control-Max-Age": String(maxAgeSeconds),
    });
    response.status(204).end();
  };
};
