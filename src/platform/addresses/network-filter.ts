/**
 * Which connections the network rules of a browser allow (NETWORK-6, NETWORK-7, NETWORK-10). A connection is checked
 * twice: by the host that it asks for, and by each address that this host turns out to have. Names prove nothing:
 * whoever owns one chooses its addresses. In local mode loopback is the machine's own, and may be reached but for the
 * service's ports (NETWORK-13, NETWORK-14).
 */
import { bareHost } from "../base/host-port.ts";
import { type HostMatcher, hostMatcher, loopbackRanges, privateRanges, type Target } from "./host-pattern.ts";
import { type Address, contains, parseAddress, type Range, range } from "./ip-range.ts";

/**
 * How the wall of a browser marks answers of its own to plain requests, so that nobody takes them for a site's: the
 * header's value is who did not let the request through. The wall takes the header out of what sites answer.
 */
export const refusedByHeader = "x-browserpool-refused-by";

/** The browser's network rules, a host that can't be reached, or a proxy on the way. */
export type RefusedBy = "rules" | "host" | "proxy";

/** Left out, a list restricts nothing (`allowedHosts`), or is that of the default private ranges (`privateHosts`). */
export type NetworkRules = {
  allowedHosts?: readonly string[] | undefined;
  privateHosts?: readonly string[] | undefined;
  /**
   * In local mode, the service's own ports. Given, an entry of `privateHosts` may name loopback, and the other ports
   * there are reached.
   */
  ownPorts?: readonly number[] | undefined;
};

/** Why a connection is refused, as text for users; undefined when it is allowed. */
type Refusal = string | undefined;

export type NetworkFilter = {
  /** NetworkFilters what is asked for, before its name is resolved. */
  host(target: Target): Refusal;
  /** NetworkFilters one address of the target. */
  address(target: Target, address: Address): Refusal;
};

/** Reached by no browser behind a wall, whatever its rules say. */
const forbidden: readonly [string, readonly string[]][] = [
  ["metadata services'", ["100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::/32", "fd20:ce::/32"]],
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  ["link-local", ["169.254.0.0/16", "fe80::/10"]],
  ["unspecified", ["0.0.0.0/8", "::/128"]],
  ["multicast", ["224.0.0.0/4", "ff00::/8"]],
  [
    "reserved",
    ["192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "100::/64", "2001::/32", "64:ff9b:1::/48", "fec0::/10"],
  ],
];

const forbiddenRanges: readonly (readonly [string, Range])[] = forbidden.flatMap(([what, texts]) =>
  texts.map((text) => [what, range(text)] as const),
);

/** Names of metadata services; a parent proxy would resolve them where we don't see it. */
const metadataNames: readonly HostMatcher[] = [
  "metadata",
  "metadata.goog",
  "metadata.google.internal",
  "*.metadata.google.internal",
  "instance-data",
  "instance-data.ec2.internal",
  "metadata.azure.internal",
  "metadata.tencentyun.com",
  "metadata.platformequinix.com",
].map(hostMatcher);

/** IPv6 ranges whose addresses contain an IPv4 address, which they lead to; the number of bytes before it. */
const embedding: readonly (readonly [Range, number])[] = [
  [range("::ffff:0:0/96"), 12],
  [range("::ffff:0:0:0/96"), 12],
  [range("::/96"), 12],
  [range("64:ff9b::/96"), 12],
  [range("2002::/16"), 2],
];

/** The IPv4 address that an IPv6 address contains, if it does. */
const embedded = (address: Address): Address | undefined => {
  const found = embedding.find(([outer]) => contains(outer, address));
  if (!found) return undefined;
  const start = found[1];
  return parseAddress(
    address
      .toByteArray()
      .slice(start, start + 4)
      .join("."),
  );
};

const privates = privateRanges.map(range);

/**
 * The addresses at which a connection reaches this machine itself. Linux connects an unspecified address to loopback.
 */
const loopback = loopbackRanges.map(range);
const thisMachine = [...loopback, ...["0.0.0.0/8", "::/128"].map(range)];

const isIn = (outers: readonly Range[], address: Address): boolean => outers.some((outer) => contains(outer, address));

const ownPort = "a port of the service itself is never reached";

/**
 * The canonical form of a host as URLs have it: lower case, no brackets, no dot at the end; other notations of IPv4
 * addresses (octal, one number) become dotted. Undefined when it is no host: a name with an empty label is none either,
 * which URLs may have, and which another reader could take for the name without it.
 */
export const canonicalHost = (text: string): Pick<Target, "host" | "address"> | undefined => {
  // What else a URL can have would not be part of the host.
  if (/[/?#@\\]/.test(text)) return undefined;
  const url = URL.parse(`http://${text}/`);
  if (!url || url.port) return undefined;
  const host = bareHost(url.hostname).replace(/\.$/, "");
  return host.split(".").includes("") ? undefined : { host, address: parseAddress(host) };
};

type Reach = { ownPorts: readonly number[] | undefined; mayReach: (target: Target) => boolean };

const addressRefusal = ({ host, port }: Target, address: Address, { ownPorts, mayReach }: Reach): Refusal => {
  const isLoopback = isIn(loopback, address);
  if (isLoopback && ownPorts?.includes(port)) return ownPort;
  const special = forbiddenRanges.find(([, outer]) => contains(outer, address));
  if (special && !(isLoopback && ownPorts)) return `${special[0]} addresses are never reached`;
  if (!isLoopback && !isIn(privates, address)) return undefined;
  const byName = { host, address: parseAddress(host), port };
  return mayReach(byName) || mayReach({ host: `${address}`, address, port })
    ? undefined
    : "the address is private and not in private_hosts";
};

/** The filter of an address and of the IPv4 address in it. */
const withEmbedded =
  (refusal: (target: Target, address: Address) => Refusal): NetworkFilter["address"] =>
  (target, one) => {
    // By the rules of IPv4 in IPv6, ::1 would contain 0.0.0.1.
    const inner = isIn(loopback, one) ? undefined : embedded(one);
    return refusal(target, one) ?? (inner && refusal(target, inner));
  };

/** The filter for these rules. Throws for what is no pattern. */
export const createNetworkFilter = ({ allowedHosts, privateHosts, ownPorts }: NetworkRules): NetworkFilter => {
  const allowed = allowedHosts?.map(hostMatcher);
  const reachable = (privateHosts ?? privateRanges).map(hostMatcher);
  const mayReach = (target: Target): boolean => reachable.some((matches) => matches(target));
  const address = withEmbedded((target, one) => addressRefusal(target, one, { ownPorts, mayReach }));
  return {
    address,
    host(target) {
      if (metadataNames.some((matches) => matches(target))) return "a metadata service is never reached";
      if (allowed && !allowed.some((matches) => matches(target))) return "the host is not in allowed_hosts";
      return target.address && address(target, target.address);
    },
  };
};

/** The filter of a browser without network rules in local mode: it reaches everything but the service's own ports. */
export const createOpenFilter = (ownPorts: readonly number[]): NetworkFilter => {
  const address = withEmbedded(({ port }, one) =>
    isIn(thisMachine, one) && ownPorts.includes(port) ? ownPort : undefined,
  );
  return { address, host: (target) => target.address && address(target, target.address) };
};
