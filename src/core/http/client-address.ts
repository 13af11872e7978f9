import type { IncomingMessage } from "node:http";
import { addressGroup, clientAddressOf } from "../../platform/addresses/client-address.ts";
import { type Range, range } from "../../platform/addresses/ip-range.ts";
import type { AppError } from "../../platform/base/errors.ts";
import type { Config } from "../config/config.ts";
import type { CallerLimits } from "../projects/caller-limits.ts";

/** The ranges of a configuration, which is frozen, so that no request parses them. */
const rangesOf = new WeakMap<readonly string[], Range[]>();

const trusted = ({ trustedProxies }: Pick<Config, "trustedProxies">): Range[] => {
  const known = rangesOf.get(trustedProxies) ?? trustedProxies.map(range);
  rangesOf.set(trustedProxies, known);
  return known;
};

/**
 * The address of a request's client. `X-Forwarded-For` counts only as far as proxies of `BROWSERPOOL_TRUSTED_PROXIES`
 * wrote it. `unknown` when the connection is gone.
 */
export const clientAddress = (
  { headers, socket }: Pick<IncomingMessage, "headers" | "socket">,
  config: Pick<Config, "trustedProxies">,
): string => {
  // Node joins several lines of this header with commas.
  const forwardedFor = String(headers["x-forwarded-for"] ?? "");
  return clientAddressOf({ remote: socket.remoteAddress ?? "", forwardedFor }, trusted(config));
};

/**
 * Counts a key, a token or a ticket that is not good on its caller's address, and returns the error to answer with:
 * `error`, or that of the bound when too many came from there. A good one is served whatever others send from the same
 * address.
 */
export const failedAttempt = <E>(
  request: IncomingMessage,
  { callerLimits, config }: { callerLimits: CallerLimits; config: Config },
  error: E,
) => callerLimits.failed(addressGroup(clientAddress(request, config))) ?? error;

/**
 * The error to answer with where the token of a URL opens nothing: not a good one, or of a session or a recording that
 * is over. Both cost the service work and need no key, so both count as failed attempts. Other errors are answered as
 * they are.
 */
export const failedToken = (
  request: IncomingMessage,
  services: { callerLimits: CallerLimits; config: Config },
  error: AppError,
): AppError =>
  error.code === "unauthorized" || error.code === "not_found" ? failedAttempt(request, services, error) : error;
