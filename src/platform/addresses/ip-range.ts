/** IP addresses and CIDR ranges. */
import { isIP, isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** `prefix`: leading bits that all addresses of the range share. */
export type Range = { address: Address; prefix: number };

const bitsOf = (address: Address): number => address.toByteArray().length * 8;

/** Writes a dotted tail (`::10.0.0.1`) as two groups (`::a00:1`): ipaddr.js would read it as `::ffff:10.0.0.1`. */
const withoutDots = (ipv6: string): string =>
  ipv6.replace(/[^:]+\..+$/, (tail) => {
    const mapped = ipaddr.IPv4.parse(tail).toIPv4MappedAddress();
    return `${mapped}`.slice("::ffff:".length);
  });

/** Undefined when `text` is no IP address in its usual notation; zones (`%eth0`) are refused. */
export const parseAddress = (text: string): Address | undefined => {
  // ipaddr.js takes more than Node: `0x7f.1`, `010.0.0.1`, `2130706433`, groups of five digits.
  if (isIP(text) === 0 || text.includes("%")) return undefined;
  return isIPv4(text) ? ipaddr.IPv4.parse(text) : ipaddr.IPv6.parse(withoutDots(text));
};

/** Undefined when `text` is not `address/prefix`. Host bits are allowed here; see `hasHostBits`. */
export const parseRange = (text: string): Range | undefined => {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const address = parseAddress(match?.[1] ?? "");
  const prefix = Number(match?.[2]);
  return address && prefix <= bitsOf(address) ? { address, prefix } : undefined;
};

/** A range that is a constant of the program. Throws when it is none. */
export const range = (text: string): Range => {
  const parsed = parseRange(text);
  if (!parsed) throw new Error(`${text} is no CIDR range`);
  return parsed;
};

/** The range of one address. */
export const single = (address: Address): Range => ({ address, prefix: bitsOf(address) });

/** Whether a bit behind the prefix is set. */
export const hasHostBits = ({ address, prefix }: Range): boolean => {
  const family = address.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  return !address.match(family.networkAddressFromCIDR(`${address}/${prefix}`), bitsOf(address));
};

/** Whether all of `inner` (an address or a range) lies in `outer`. */
export const contains = (outer: Range, inner: Address | Range): boolean => {
  const { address, prefix } = "prefix" in inner ? inner : single(inner);
  if (address.kind() !== outer.address.kind() || prefix < outer.prefix) return false;
  return address.match(outer.address, outer.prefix);
};
