/**
 * What the wall of a visit's browser says instead of the site, in Chromium's words, as a browser without a wall would
 * say it.
 */
import { type RefusedBy, refusedByHeader } from "../../../platform/addresses/network-filter.ts";
import type { Visit } from "./visit.ts";

const errors: Readonly<Record<RefusedBy, `ERR_${string}`>> = {
  rules: "ERR_BLOCKED_BY_CLIENT",
  host: "ERR_ADDRESS_UNREACHABLE",
  proxy: "ERR_PROXY_CONNECTION_FAILED",
};

/** Why an answer with these headers, names in lower case, is none of the site; undefined when it is. */
export const wallError = (headers: Visit["headers"]): Visit["error"] => {
  const by = headers[refusedByHeader];
  // Within TLS the header may be the site's, with any value.
  return by !== undefined && Object.hasOwn(errors, by) ? errors[by as RefusedBy] : undefined;
};

/** A tunnel that does not open is a matter of the proxy, if there is one; else the wall has not reached the host. */
export const tunnelError = (error: Visit["error"], hasProxy: boolean): Visit["error"] =>
  error === "ERR_TUNNEL_CONNECTION_FAILED" && !hasProxy ? errors.host : error;
