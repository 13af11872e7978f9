/** Whose address a request has behind proxies, and which addresses count as one client. */
import ipaddr from "ipaddr.js";
import { type Address, contains, parseAddress, type Range } from "./ip-range.ts";

/**
 * An IPv4 address that is written as IPv6 (`::ffff:10.0.0.1`), as sockets do that listen on `::`, is the IPv4 address.
 */
const unmapped = (address: Address): Address =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;

/** Reads `1.2.3.4`, `1.2.3.4:80`, `::1` and `[::1]:80`; some proxies write the port too. */
const parsed = (text: string): Address | undefined => {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = parseAddress(bare);
  return address && unmapped(address);
};

/**
 * The address of the client: that of the socket, unless a trusted proxy is there. Then what that proxy wrote at the end
 * of `X-Forwarded-For` counts, and so on to the left. What stands left of the first untrusted address may be invented,
 * and so is not read. An entry that is no address ends the way at the proxy that wrote it.
 */
export const clientAddressOf = (
  { remote, forwardedFor }: { remote: string; forwardedFor: string },
  trusted: readonly Range[],
): string => {
  let address = parsed(remote);
  if (!address) return "unknown";
  const entries = forwardedFor.split(",");
  const isTrusted = (one: Address): boolean => trusted.some((range) => contains(range, one));
  while (isTrusted(address)) {
    const next = parsed(entries.pop()?.trim() ?? "");
    if (!next) break;
    address = next;
  }
  return address.toString();
};

/** The leading bits of an IPv6 address that one customer of a provider has: such a customer has very many addresses. */
const customerBits = 56;

/** The name under which limits count an address: itself, or for IPv6 the network of its customer. */
export const addressGroup = (text: string): string => {
  const address = parseAddress(text);
  if (!(address instanceof ipaddr.IPv6)) return text;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${customerBits}`)}/${customerBits}`;
};
