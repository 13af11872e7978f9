import type { IncomingHttpHeaders } from "node:http";
import { isIPv6 } from "node:net";
import type { Config } from "../../config.ts";
import { AppError } from "../../errors.ts";

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

const nameOf = (host: string): string => host.replace(/:\d+$/, "").toLowerCase();

/** An IPv6 address stands in brackets in a URL and without them where it is set, as in a pod's IP. */
const inBrackets = (name: string): string => (isIPv6(name) ? `[${name}]` : name);

const originHost = (origin: string): string | undefined => {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
};

/**
 * Refuses a request whose `Host` is not one of ours (a web page can point its own name at a loopback address: DNS
 * rebinding), and one whose `Origin` is another site's. Clients that are no browsers send no `Origin`.
 */
export const checkHost = ({ host, origin }: IncomingHttpHeaders, config: Config): void => {
  const name = nameOf(host ?? "");
  const publicName = config.publicUrl ? new URL(config.publicUrl).hostname.toLowerCase() : undefined;
  const isOurs =
    loopbackNames.has(name) ||
    name === publicName ||
    config.allowedHosts.some((allowed) => allowed === "*" || inBrackets(allowed.toLowerCase()) === name);
  if (!isOurs)
    throw new AppError("forbidden", "the Host of this request is not served here; see BROWSERPOOL_ALLOWED_HOSTS");
  if (origin === undefined || config.allowedOrigins.includes(origin)) return;
  if (originHost(origin) !== host)
    throw new AppError("forbidden", "pages of this Origin may not call here; see BROWSERPOOL_ALLOWED_ORIGINS");
};

/** Where the caller reached us: the public URL, else the Host of its request. No slash at the end. */
export const baseUrlOf = ({ host }: IncomingHttpHeaders, config: Config): string =>
  config.publicUrl?.replace(/\/+$/, "") ?? `http://${host}`;
