/** IP addresses and CIDR ranges as numbers, so that "is inside" and "has host bits" are arithmetic. */
import { isIP, isIPv4 } from "node:net";

/** `bits`: 32 or 128. */
export type Address = { bits: 32 | 128; value: bigint };
/** `prefix`: leading bits that all addresses of the range share. */
export type Range = Address & { prefix: number };

const ofBytes = (parts: string[], radix: number, width: bigint): bigint =>
  parts.reduce((value, part) => (value << width) | BigInt(Number.parseInt(part, radix)), 0n);

const ofIpv4 = (text: string): bigint => ofBytes(text.split("."), 10, 8n);

const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));

/** `text` is valid IPv6. A dotted tail (`::ffff:10.0.0.1`) counts as two groups. */
const ofIpv6 = (text: string): bigint => {
  const dotted = /[^:]*\.[^:]*$/.exec(text)?.[0];
  const tail = dotted === undefined ? 0n : ofIpv4(dotted);
  const hex =
    dotted === undefined
      ? text
      : `${text.slice(0, -dotted.length)}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`;
  const [head = "", rest] = hex.split("::");
  const before = groups(head);
  const after = groups(rest ?? "");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return ofBytes([...before, ...zeros, ...after], 16, 16n);
};

/** Undefined when `text` is no IP address in its usual notation; zones (`%eth0`) are refused. */
export const parseAddress = (text: string): Address | undefined => {
  if (isIP(text) === 0 || text.includes("%")) return undefined;
  return isIPv4(text) ? { bits: 32, value: ofIpv4(text) } : { bits: 128, value: ofIpv6(text) };
};

/** Undefined when `text` is not `address/prefix`. Host bits are allowed here; see `hasHostBits`. */
export const parseRange = (text: string): Range | undefined => {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const address = parseAddress(match?.[1] ?? "");
  const prefix = Number(match?.[2]);
  return address && prefix <= address.bits ? { ...address, prefix } : undefined;
};

/** A range that is a constant of the program. Throws when it is none. */
export const range = (text: string): Range => {
  const parsed = parseRange(text);
  if (!parsed) throw new Error(`${text} is no CIDR range`);
  return parsed;
};

/** Whether bits after the prefix are set, as in `10.0.0.1/8`. */
export const hasHostBits = ({ bits, value, prefix }: Range): boolean => value % (1n << BigInt(bits - prefix)) !== 0n;

/** Whether all of `inner` (an address or a range) lies in `outer`. */
export const contains = (outer: Range, inner: Address | Range): boolean => {
  if (outer.bits !== inner.bits || ("prefix" in inner && inner.prefix < outer.prefix)) return false;
  const shift = BigInt(outer.bits - outer.prefix);
  return inner.value >> shift === outer.value >> shift;
};
