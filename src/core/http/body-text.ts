/**
 * Whether a body is text. What is not would be stored as another text than was sent, with U+FFFD in its place: a password, too. So bytes
 * that are no UTF-8 are refused, and escapes that name half a surrogate pair.
 */
import { isUtf8 } from "node:buffer";

const [backslash, smallU] = [0x5c, 0x75];

const isOneOf = (digits: string): ((byte: number | undefined) => boolean) => {
  const bytes = new Set(Buffer.from(digits));
  return (byte) => byte !== undefined && bytes.has(byte);
};
const isD = isOneOf("dD");
const beginsHigh = isOneOf("89abAB");
const beginsLow = isOneOf("cdefCDEF");

/** Half of a pair that the escape at `at`, which is behind its backslash, names. */
const halfAt = (bytes: Uint8Array, at: number): "high" | "low" | undefined => {
  if (bytes[at] !== smallU || !isD(bytes[at + 1])) return undefined;
  if (beginsHigh(bytes[at + 2])) return "high";
  return beginsLow(bytes[at + 2]) ? "low" : undefined;
};

const hasHalfPair = (bytes: Uint8Array): boolean => {
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== backslash) continue;
    at += 1;
    const half = halfAt(bytes, at);
    if (half === undefined) continue;
    if (half === "low" || bytes[at + 5] !== backslash || halfAt(bytes, at + 6) !== "low") return true;
    at += 10;
  }
  return false;
};

/** Why the JSON in these bytes is not text, in words; undefined when it is. Bytes that are no JSON are judged as they come. */
export const whyNotText = (bytes: Uint8Array): string | undefined => {
  if (!isUtf8(bytes)) return "is not UTF-8";
  return hasHalfPair(bytes) ? "names half a surrogate pair: it is no text" : undefined;
};
