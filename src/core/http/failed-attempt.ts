import type { IncomingMessage } from "node:http";
import { addressGroup } from "../../platform/addresses/client-address.ts";
import type { AppError } from "../../platform/base/errors.ts";
import type { Config } from "../config/config.ts";
import type { CallerLimits } from "../projects/caller-limits.ts";
import { clientAddress } from "./client-address.ts";

/**
 * Counts a key, a token or a ticket that is not good on its caller's address, and returns the error to answer with: `error`, or that of the
 * bound when too many came from there. A good one is served whatever others send from the same address.
 */
export const failedAttempt = <E>(
  request: IncomingMessage,
  { callerLimits, config }: { callerLimits: CallerLimits; config: Config },
  error: E,
) => callerLimits.failed(addressGroup(clientAddress(request, config))) ?? error;

/**
 * The error to answer with where the token of a URL opens nothing: not a good one, or of a session or a recording that is over. Both cost
 * the service work and need no key, so both count as failed attempts. Other errors are answered as they are.
 */
export const failedToken = (
  request: IncomingMessage,
  services: { callerLimits: CallerLimits; config: Config },
  error: AppError,
): AppError =>
  error.code === "unauthorized" || error.code === "not_found" ? failedAttempt(request, services, error) : error;
