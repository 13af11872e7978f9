/**
 * How the wall of a browser marks answers of its own to plain requests, so that nobody takes them for a site's: the header's value is
 * who did not let the request through. The wall takes the header out of what sites answer.
 */
export const refusedByHeader = "x-browserpool-refused-by";

/** The browser's network rules, a host that can't be reached, or a proxy on the way. */
export type RefusedBy = "rules" | "host" | "proxy";
