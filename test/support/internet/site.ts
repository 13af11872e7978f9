import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * What a site knows of a request. `place`: of the proxy that it came through; undefined when it came directly. `nth`:
 * counts the site's requests for documents from 1.
 */
type Asked = { request: IncomingMessage; path: string; place: Place | undefined; nth: number; port: number };

/** The countries that have a proxy. */
export type Place = "US" | "DE" | "JP";

export type Site = (asked: Asked, response: ServerResponse) => void;

const filler = "Each of our lamps is made by hand from oak and brass, in a small workshop beside the old harbour. ";

/** More text than a page has that only leads on. */
export const plenty = `<p>${filler.repeat(5)}</p>`;

/** A page with this title and body. */
export const html = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`;

/** Answers with a page. */
export const answer = (
  response: ServerResponse,
  body: string,
  status = 200,
  headers: Record<string, string | string[]> = {},
): void => void response.writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers }).end(body);

/** The page that all sites show to those whom they let in. */
export const goods = html("Harbour Lamps", `<h1>Harbour Lamps</h1>${plenty}<a href="/lamps">All lamps</a>`);

/** What a wall shows to those whom it keeps out. */
export const denied = html(
  "Access Denied",
  "<h1>Access Denied</h1><p>You don't have permission to access this page on this server. Reference #18.5c2d</p>",
);
