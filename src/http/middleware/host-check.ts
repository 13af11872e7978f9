import type { IncomingHttpHeaders } from "node:http";
import type { Config } from "../../config.ts";
import { AppError } from "../../errors.ts";
import { urlHost } from "../../host-port.ts";

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether only this machine reaches what listens on this address. */
export const isLoopback = (address: string): boolean => loopbackNames.has(urlHost(address));

const nameOf = (host: string): string => host.replace(/:\d+$/, "").toLowerCase();

const originHost = (origin: string): string | undefined => {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
};

/**
 * Refuses a request with an unknown `Host` (a web page can point its own name at a loopback address: DNS rebinding) or with the
 * `Origin` of another site. Clients other than browsers send no `Origin`.
 */
export const checkHost = ({ host, origin }: IncomingHttpHeaders, config: Config): void => {
  const name = nameOf(host ?? "");
  const publicName = config.publicUrl ? new URL(config.publicUrl).hostname.toLowerCase() : undefined;
  const isOurs =
    loopbackNames.has(name) ||
    name === publicName ||
    config.allowedHosts.some((allowed) => allowed === "*" || urlHost(allowed.toLowerCase()) === name);
  if (!isOurs)
    throw new AppError("forbidden", "the Host of this request is not served here; see BROWSERPOOL_ALLOWED_HOSTS");
  if (origin === undefined || config.allowedOrigins.includes(origin)) return;
  if (originHost(origin) !== host)
    throw new AppError("forbidden", "pages of this Origin may not call here; see BROWSERPOOL_ALLOWED_ORIGINS");
};

/** The URL by which callers reach this service: the public URL, else from the request's Host. No slash at the end. */
export const baseUrlOf = ({ host }: IncomingHttpHeaders, config: Config): string =>
  config.publicUrl?.replace(/\/+$/, "") ?? `http://${host}`;
