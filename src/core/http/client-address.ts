import type { IncomingMessage } from "node:http";
import { clientAddressOf } from "../../platform/addresses/client-address.ts";
import { type Range, range } from "../../platform/addresses/ip-range.ts";
import type { Config } from "../config/config.ts";

/** The ranges of a configuration, which is frozen, so that no request parses them. */
const rangesOf = new WeakMap<readonly string[], Range[]>();

const trusted = ({ trustedProxies }: Pick<Config, "trustedProxies">): Range[] => {
  const known = rangesOf.get(trustedProxies) ?? trustedProxies.map(range);
  rangesOf.set(trustedProxies, known);
  return known;
};

/**
 * The address of a request's client. `X-Forwarded-For` counts only as far as proxies of `BROWSERPOOL_TRUSTED_PROXIES` wrote it.
 * `unknown` when the connection is gone.
 */
export const clientAddress = (
  { headers, socket }: Pick<IncomingMessage, "headers" | "socket">,
  config: Pick<Config, "trustedProxies">,
): string => {
  // Node joins several lines of this header with commas.
  const forwardedFor = String(headers["x-forwarded-for"] ?? "");
  return clientAddressOf({ remote: socket.remoteAddress ?? "", forwardedFor }, trusted(config));
};
