/** Into the pages of which origins a login of a connection may be typed (LOGIN-8); pure. */
import type { AuthConnectionSpec } from "../../connections/auth-connection.ts";

type Site = Pick<AuthConnectionSpec, "domain" | "loginUrl" | "allowedDomains">;

const bare = (domain: string): string =>
  domain
    .toLowerCase()
    .replace(/:\d+$/, "")
    .replace(/^(www\.|\*\.)/, "");

/** Whether a host is one of the connection's domains, or below one. */
export const isHostOf = (host: string, { domain, allowedDomains = [] }: Site): boolean =>
  [domain, ...allowedDomains].map(bare).some((root) => host === root || host.endsWith(`.${root}`));

/**
 * Whether values may be typed into a page of this origin. An unencrypted one counts only where the login begins with one.
 * `limits`: the origins that the credential and the connection allow; undefined: any.
 */
export const isAllowedPage = (origin: string, site: Site, limits: readonly string[] | undefined): boolean => {
  const url = URL.parse(origin);
  if (!url || (limits && !limits.includes(origin))) return false;
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && site.loginUrl?.startsWith("http:") === true);
  return isSafe && isHostOf(url.hostname, site);
};
