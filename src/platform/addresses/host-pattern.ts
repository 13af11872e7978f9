/**
 * The patterns of `network`: which hosts a browser may reach, and which it reaches through a proxy.
 *
 *   host name        `db.internal`, `db.internal:5432`      allowedHosts, privateHosts, proxyRoutes
 *   wildcard         `*.internal` (one, leading)            allowedHosts, privateHosts, proxyRoutes
 *   IPv4 and IPv6    `10.0.0.5`, `[fd00::5]:8080`           allowedHosts, privateHosts (private or loopback), proxyRoutes
 *   CIDR range       `10.0.0.0/8`, `fd00::/8`               privateHosts (private or loopback)
 *   everything       `*`                                    allowedHosts, proxyRoutes
 *
 * Rules of privateHosts: NETWORK-2 and NETWORK-3. A wildcard stands for one label or more, so `*.example.com` is not
 * `example.com`.
 */

import { domainToASCII, domainToUnicode } from "node:url";
import { z } from "zod";
import { bareHost } from "../base/host-port.ts";
import {
  type Address,
  contains,
  hasHostBits,
  parseAddress,
  parseRange,
  type Range,
  range,
  single,
} from "./ip-range.ts";

const dnsLabel = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";

/** A host with an optional port: `shop.example`, `127.0.0.1:8443`. The HTTP API writes it in lower case. */
export const hostName = z
  .string()
  .max(260)
  .regex(new RegExp(`^${dnsLabel}(\\.${dnsLabel})*(:[0-9]{1,5})?$`));

// Labels of host names in their `xn--` form, as IDNA has them (RFC 5891): not every text after `xn--` is one.

/** Whether each `xn--` label of a host name in lower case stands for a name, and is written as that name is. */
export const hasSoundLabels = (host: string): boolean =>
  host.split(".").every((label) => {
    if (!label.startsWith("xn--")) return true;
    const written = domainToUnicode(label);
    return written !== label && domainToASCII(written) === label;
  });

/** The ranges that count as private, and the ones that apply when a pool gives no `privateHosts`. */
export const privateRanges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"] as const;

/** The addresses of the machine itself. */
export const loopbackRanges = ["127.0.0.0/8", "::1/128"] as const;

const isPrivate = (inner: Address | Range): boolean => privateRanges.some((text) => contains(range(text), inner));

const isLoopback = (inner: Address | Range): boolean => loopbackRanges.some((text) => contains(range(text), inner));

const neverPrivate: [Range, string][] = [
  [range("::ffff:127.0.0.0/104"), "loopback is not allowed"],
  [range("169.254.0.0/16"), "link-local is not allowed"],
  [range("fe80::/10"), "link-local is not allowed"],
];

const privateProblem = (inner: Address | Range): string | undefined => {
  if (isPrivate(inner) || isLoopback(inner)) return undefined;
  const special = neverPrivate.find(([outer]) => contains(outer, inner));
  return special ? special[1] : `must be private (${privateRanges.join(", ")}), public is not allowed`;
};

/** What a pattern turned out to be; `problem` says why it is none. `host` has no wildcard, brackets or port. */
type Parsed =
  | { kind: "everything" }
  | { kind: "name"; host: string; wildcard: boolean; port: number | undefined }
  | { kind: "address"; address: Address; port: number | undefined }
  | { kind: "range"; range: Range }
  | { kind: "problem"; message: string };

const problem = (message: string): Parsed => ({ kind: "problem", message });

const parseCidr = (text: string): Parsed => {
  if (/\/\d+:\d*$/.test(text)) return problem("a CIDR range takes no port");
  if (!/^[\da-fA-F:.[\]]+\/\d*$/.test(text)) return problem("must be a host without a path");
  const parsed = parseRange(text);
  if (!parsed) return problem("is not a CIDR range such as 10.0.0.0/8 or fd00::/8");
  return hasHostBits(parsed) ? problem("the CIDR range has host bits set") : { kind: "range", range: parsed };
};

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i;

const parseName = (text: string, port: number | undefined): Parsed => {
  const wildcard = text.startsWith("*.");
  const host = wildcard ? text.slice(2) : text;
  if (/^[*.]*$/.test(text)) return problem("a wildcard that catches everything is not allowed");
  if (host.includes("*")) return problem("only one leading *. may stand for labels");
  const labels = host.split(".");
  if (host.length > 253 || !labels.every((part) => label.test(part)))
    return problem("is not a host name (write an internationalised name in its xn-- form)");
  if (!hasSoundLabels(host.toLowerCase())) return problem("has an xn-- label that is no internationalised name");
  if (/^(\d+|0x[\da-f]*)$/i.test(labels.at(-1) ?? "")) return problem("is not an IPv4 address in dotted decimal form");
  return { kind: "name", host: host.toLowerCase(), wildcard, port };
};

const bracketed = /^\[([^\]]*)\](?::(.*))?$/s;

const splitPort = (text: string): { host: string; port?: string | undefined } => {
  const brackets = bracketed.exec(text);
  if (brackets) return { host: brackets[1] ?? "", port: brackets[2] };
  const colon = text.indexOf(":");
  return colon < 0 ? { host: text } : { host: text.slice(0, colon), port: text.slice(colon + 1) };
};

const isPort = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65535;

const parseHost = (text: string): Parsed => {
  if (parseAddress(text)?.kind() === "ipv6") return problem("an IPv6 address stands in brackets, e.g. [fd00::1]");
  const { host, port } = splitPort(text);
  const address = parseAddress(host);
  if (text.startsWith("[") && address?.kind() !== "ipv6") return problem("is not an IPv6 address in brackets");
  if (port !== undefined && !isPort(port)) return problem("the port must be a number from 1 to 65535");
  const only = port === undefined ? undefined : Number(port);
  return address ? { kind: "address", address, port: only } : parseName(host, only);
};

const parse = (text: string): Parsed => {
  if (text === "" || /\s/.test(text)) return problem("must not be empty or contain spaces");
  if (text.includes("://")) return problem("must be a host without a scheme");
  if (text === "*") return { kind: "everything" };
  return text.includes("/") ? parseCidr(text) : parseHost(text);
};

/** Why `text` is no pattern of `allowedHosts` or of a proxy route's `hosts`; undefined when it is one. */
export const hostPatternProblem = (text: string): string | undefined => {
  const parsed = parse(text);
  if (parsed.kind === "range") return "must be a host, not a CIDR range";
  return parsed.kind === "problem" ? parsed.message : undefined;
};

/**
 * Why `text` is no host of a server: a name, an IPv4 address, or an IPv6 address with or without brackets; undefined
 * when it is one.
 */
export const serverHostProblem = (text: string): string | undefined => {
  if (parseAddress(text)) return undefined;
  const parsed = parse(text);
  if (parsed.kind === "problem") return parsed.message;
  if (parsed.kind === "everything" || parsed.kind === "range" || (parsed.kind === "name" && parsed.wildcard))
    return "must be one host";
  return splitPort(text).port === undefined ? undefined : "must be a host without a port";
};

const privateHostProblems: { [K in Parsed["kind"]]: (parsed: Extract<Parsed, { kind: K }>) => string | undefined } = {
  everything: () => "a wildcard that catches everything is not allowed",
  name: () => undefined,
  address: ({ address }) => privateProblem(address),
  range: (parsed) => privateProblem(parsed.range),
  problem: ({ message }) => message,
};

/** Why `text` is no entry of `privateHosts`; undefined when it is one. */
export const privateHostProblem = (text: string): string | undefined => {
  const parsed = parse(text);
  // The table has a function for each kind, which TypeScript does not relate to the kind of `parsed`.
  return (privateHostProblems[parsed.kind] as (parsed: Parsed) => string | undefined)(parsed);
};

const isLoopbackName = (host: string): boolean => /(^|\.)localhost\.?$/i.test(host);

/**
 * Whether a pattern, or the host of a server, is on loopback: an address or range there, or a name that always leads
 * there. Only local mode reaches it.
 */
export const namesLoopback = (text: string): boolean => {
  const address = parseAddress(bareHost(text));
  if (address) return isLoopback(address);
  const parsed = parse(text);
  if (parsed.kind === "name") return isLoopbackName(parsed.host);
  return (
    (parsed.kind === "address" && isLoopback(parsed.address)) || (parsed.kind === "range" && isLoopback(parsed.range))
  );
};

/**
 * Where a connection goes. `host`: a canonical name (see `canonicalHost`), or the text of an address; `address`: its
 * address, if it is one.
 */
export type Target = { host: string; address: Address | undefined; port: number };

/** A pattern as a function of targets. */
export type HostMatcher = (target: Target) => boolean;

const nameMatcher =
  ({ host, wildcard, port }: Extract<Parsed, { kind: "name" }>): HostMatcher =>
  (target) =>
    target.address === undefined &&
    (port === undefined || port === target.port) &&
    (wildcard ? target.host.endsWith(`.${host}`) : target.host === host);

const addressMatcher = (outer: Range, port: number | undefined): HostMatcher => {
  return ({ address, port: asked }) =>
    address !== undefined && (port === undefined || port === asked) && contains(outer, address);
};

/** The function of a pattern. Throws for what is no pattern: the caller has checked it. */
export const hostMatcher = (text: string): HostMatcher => {
  const parsed = parse(text);
  switch (parsed.kind) {
    case "everything":
      return () => true;
    case "name":
      return nameMatcher(parsed);
    case "address":
      return addressMatcher(single(parsed.address), parsed.port);
    case "range":
      return addressMatcher(parsed.range, undefined);
    case "problem":
      throw new Error(`${text}: ${parsed.message}`);
  }
};
