/**
 * The session of a person who is signed in to the console: a cookie that stands for an API key, without containing it.
 *
 *   (none) ──POST /console/session with a key or a code──► signed in ──DELETE, or 12 h──► ended
 *                                                             └──the key is deleted, expires or gets other rights──► ended
 *
 * The cookie is sealed by the installation's key and names the API key and what it may do, so no replica keeps
 * anything. It counts only beside the console's header: no form, picture or link of another page sends that, and a
 * script of another origin may not.
 */
import { createHash, type KeyObject } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import type { ApiKeys, Principal } from "../api-keys/api-keys.ts";
import type { Config } from "../config/config.ts";
import { derivedKey } from "../protocol/derived-key.ts";
import { openBytes, sealBytes } from "../protocol/sealed-bytes.ts";
import { cookieOf } from "./cookie-of.ts";
import { hostName, isLoopback } from "./middleware/host-check.ts";

type Deps = { apiKeys: ApiKeys; config: Config; signingKey: KeyObject };

/** Whether the console is there for a request. */
export const isConsoleServed = (headers: IncomingHttpHeaders, { console: to }: Config): boolean =>
  to === "on" || (to === "loopback" && isLoopback(hostName(headers)));

/** The header beside which the cookie counts. */
export const consoleHeader = "x-browserpool-console";

/** How long a session lasts, ms. */
export const consoleSessionMs = 12 * 60 * 60 * 1000;

const Claims = z.object({ key: z.string(), rights: z.string(), until: z.number() });

const sealingKey = (signingKey: KeyObject): KeyObject => derivedKey(signingKey, "console sessions");

const context = "console session";

/** What a principal may do, as a short text that any change of it changes. */
const rightsOf = ({ scope, permissions }: Principal): string =>
  createHash("sha256")
    .update(JSON.stringify([scope, [...permissions].sort()]))
    .digest("base64url");

/** Whether people reach the service by TLS only. */
const isSecure = ({ publicUrl }: Config): boolean => publicUrl?.startsWith("https:") ?? false;

/** The cookie's name. With TLS, `__Host-`: no other host and no other path can set it. */
export const consoleCookie = (config: Config): string =>
  isSecure(config) ? "__Host-browserpool_console" : "browserpool_console";

/** The cookie's attributes. Without TLS, as on loopback, not every browser takes a `Secure` cookie. */
export const consoleCookieAttributes = (config: Config) =>
  ({ httpOnly: true, secure: isSecure(config), sameSite: "strict", path: "/" }) as const;

/** The text of a cookie for this principal, good until `untilMs`, ms since 1970. */
export const sealConsoleSession = (principal: Principal, untilMs: number, { signingKey }: Deps): string => {
  const claims: z.infer<typeof Claims> = { key: principal.keyId, rights: rightsOf(principal), until: untilMs };
  return sealBytes(sealingKey(signingKey), Buffer.from(JSON.stringify(claims)), context).toString("base64url");
};

const openClaims = (text: string, signingKey: KeyObject): z.infer<typeof Claims> | undefined => {
  try {
    const opened = openBytes(sealingKey(signingKey), Buffer.from(text, "base64url"), context);
    return Claims.parse(JSON.parse(opened.toString()));
  } catch {
    return undefined;
  }
};

/** Whether a request is none that a page of another site could send: it has the header, and is of our own origin. */
export const isOfConsole = (headers: IncomingHttpHeaders): boolean => {
  const site = headers["sec-fetch-site"];
  return headers[consoleHeader] !== undefined && (site === undefined || site === "same-origin");
};

/** The console's cookie of a request that may use it; undefined for any other request. */
export const consoleCookieOf = (headers: IncomingHttpHeaders, config: Config): string | undefined =>
  isOfConsole(headers) && isConsoleServed(headers, config) ? cookieOf(headers, consoleCookie(config)) : undefined;

/**
 * Who is signed in, and until when, ms since 1970. Undefined without the cookie and the header, after the session's
 * time, and when its key is gone or has other rights by now.
 */
export const consoleSession = (
  headers: IncomingHttpHeaders,
  { apiKeys, config, signingKey }: Deps,
): { principal: Principal; untilMs: number } | undefined => {
  const text = consoleCookieOf(headers, config);
  const claims = text === undefined ? undefined : openClaims(text, signingKey);
  if (!claims || claims.until <= Date.now()) return undefined;
  const principal = apiKeys.principal(claims.key);
  return principal && rightsOf(principal) === claims.rights ? { principal, untilMs: claims.until } : undefined;
};
