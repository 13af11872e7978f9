/**
 * The target of a lookup: a public URL in one form, so that every spelling of it finds the same knowledge (LOOKUP-10 to
 * LOOKUP-16). WHATWG's URL parser does what browsers do: lower case, IDNA, other notations of IPv4 addresses, dots in
 * paths, default ports.
 */
import { getDomain } from "tldts";
import { hasSoundLabels } from "../../../platform/addresses/host-pattern.ts";
import { type Address, parseAddress } from "../../../platform/addresses/ip-range.ts";
import { createNetworkFilter } from "../../../platform/addresses/network-filter.ts";
import { maxUrlLength, type SiteScope } from "../site-recipe.ts";

/** `normalized`: scheme, host, port and path; `domain`: the registrable domain, or the host where there is none. */
export type Target = { normalized: string; host: string; domain: string };

/** Characters that mean the same percent-encoded (RFC 3986, 2.3). */
const unreserved = /^[A-Za-z0-9._~-]$/;

/**
 * A path in the one form that all spellings of it have (RFC 3986, 6.2.2): without codes of unreserved characters, other
 * codes in capitals. The URL parser leaves both as they are, and two characters that no URL may have.
 */
const normalPath = (path: string): string =>
  path
    .replace(/%[\da-f]{2}/gi, (code) => {
      const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return unreserved.test(character) ? character : code.toUpperCase();
    })
    .replace(/[|^]/g, (character) => encodeURIComponent(character));

/** Of the URL as given and as it is sent: letters outside of ASCII are up to nine characters there. */
const tooLong = `must have at most ${maxUrlLength} characters`;

/** Names that no public DNS answers (RFC 6761, 6762, 7686, 8375, 9476; ICANN for `internal`). */
const reservedName = /(?:^|\.)(localhost|local|internal|test|invalid|onion|alt|home\.arpa)$/;

const label = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const dnsName = new RegExp(`^${label}(?:\\.${label})*$`);

/**
 * URLs write IPv4 addresses with dots and IPv6 addresses in brackets, and have no name whose last label is a number.
 */
const endOfAddress = /[\d\]]$/;

/** The host is a name of DNS by now: nothing needs to be found or checked in it. */
const suffixRules = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false };

const judge = createNetworkFilter({ privateHosts: [] });

const addressProblem = (host: string, address: Address): string | undefined => {
  const target = { host, address, port: 443 };
  // ipaddr.js knows more ranges than those that browsers are kept from, e.g. the ones for documentation.
  return address.range() === "unicast" && judge.host(target) === undefined ? undefined : "the address is not public";
};

const nameProblem = (host: string): string | undefined => {
  if (host.length > 253 || !dnsName.test(host)) return "the host is no name of DNS";
  if (!hasSoundLabels(host)) return "the host has an xn-- label that is no internationalised name";
  if (!host.includes(".")) return "a host of one label is not public";
  const reserved = reservedName.exec(host);
  if (reserved) return `names under .${reserved[1]} are not public`;
  return judge.host({ host, address: undefined, port: 443 }) && "the host is a metadata service";
};

const isProblem = (value: unknown): value is string => typeof value === "string";

const parse = (text: string): URL | string => {
  if (text.length > maxUrlLength) return tooLong;
  const url = URL.parse(text);
  if (!url) return "is no URL";
  return url.protocol === "https:" || url.protocol === "http:" ? url : "must be an http or https URL";
};

/** The target of a URL, or why it has none (LOOKUP-2, LOOKUP-3), as text for users. Asks no DNS (LOOKUP-6). */
export const targetOf = (text: string): Target | string => {
  const url = parse(text);
  if (isProblem(url)) return url;
  const host = url.hostname.replace(/\.$/, "");
  const address = endOfAddress.test(host) ? parseAddress(host.replace(/^\[|\]$/g, "")) : undefined;
  const problem = address ? addressProblem(host, address) : nameProblem(host);
  if (problem) return problem;
  const path = normalPath(url.pathname).replace(/\/+$/, "");
  const normalized = `${url.protocol}//${host}${url.port && `:${url.port}`}${path || "/"}`;
  if (normalized.length > maxUrlLength) return tooLong;
  return { normalized, host, domain: (address ? undefined : getDomain(host, suffixRules)) ?? host };
};

/** The target that a site's name stands for: a URL, or a host or domain alone; or why it has none, as `targetOf`. */
export const targetOfSite = ({ scope, target }: { scope: SiteScope; target: string }): Target | string =>
  targetOf(scope === "exact" ? target : `https://${target}/`);
