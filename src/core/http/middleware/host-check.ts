import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../../platform/base/errors.ts";
import { urlHost } from "../../../platform/base/host-port.ts";
import type { Config } from "../../config/config.ts";

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether only this machine reaches what listens on this address. */
export const isLoopback = (address: string): boolean => loopbackNames.has(urlHost(address));

/** The name in a request's `Host`, without the port. */
export const hostName = ({ host = "" }: IncomingHttpHeaders): string => host.replace(/:\d+$/, "").toLowerCase();

const originUrl = (origin: string): URL | undefined => URL.parse(origin) ?? undefined;

/** Schemes of origins that a web page can have. A page without one has the origin `null`. */
const pageSchemes = new Set(["http:", "https:", "file:", "ftp:", "ws:", "wss:"]);

/**
 * Whether an origin is that of a browser extension or an app (`chrome-extension://…`, `vscode-webview://…`): browsers
 * let no web page have it.
 */
const isApp = (origin: string): boolean => {
  const url = originUrl(origin);
  return (
    url !== undefined && origin.startsWith(`${url.protocol}//`) && url.host !== "" && !pageSchemes.has(url.protocol)
  );
};

/** Whether an origin is this service's own, which serves pages by http and https. */
const isOwn = (origin: string, host: string | undefined): boolean => {
  const url = originUrl(origin);
  return url !== undefined && /^https?:$/.test(url.protocol) && url.host === host;
};

/**
 * Refuses a request with an unknown `Host` (a web page can point its own name at a loopback address: DNS rebinding) or
 * with the `Origin` of another site. Clients other than browsers send no `Origin`. `takesApps`: also extensions and
 * apps may call; the caller then requires a session's token.
 */
export const checkHost = (
  headers: IncomingHttpHeaders,
  config: Config,
  { takesApps = false }: { takesApps?: boolean } = {},
): void => {
  const { host, origin } = headers;
  const name = hostName(headers);
  const publicName = config.publicUrl ? new URL(config.publicUrl).hostname.toLowerCase() : undefined;
  const isOurs =
    loopbackNames.has(name) ||
    name === publicName ||
    config.allowedHosts.some((allowed) => allowed === "*" || urlHost(allowed.toLowerCase()) === name);
  if (!isOurs)
    throw new AppError("forbidden", "the Host of this request is not served here; see BROWSERPOOL_ALLOWED_HOSTS");
  if (origin === undefined || config.allowedOrigins.includes(origin) || isOwn(origin, host)) return;
  if (takesApps && isApp(origin)) return;
  throw new AppError("forbidden", "pages of this Origin may not call here; see BROWSERPOOL_ALLOWED_ORIGINS");
};

/** The URL by which callers reach this service: the public URL, else from the request's Host. No slash at the end. */
export const baseUrlOf = ({ host }: IncomingHttpHeaders, config: Config): string =>
  config.publicUrl?.replace(/\/+$/, "") ?? `http://${host}`;
