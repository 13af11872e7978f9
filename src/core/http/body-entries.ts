/**
 * Bounds what is in a JSON body, by its bytes, before it is parsed: parsing and checking take time by the entry and by
 * the name rather than by the byte, and meanwhile this replica answers nobody (LIMIT-31). It takes a body that is no
 * JSON as it comes; the parser refuses that.
 */
import { randomInt } from "node:crypto";

/** Entries in a body of a route without a bound of its own: far above all that such a route takes. */
export const defaultBodyEntries = 2000;

/**
 * Different names of fields in a body. A name that was not seen before costs the parser as much as twenty entries
 * without one.
 */
export const maxBodyNames = 5000;

/** Levels of lists and objects. A Chrome policy may have a hundred. */
export const maxBodyDepth = 128;

/** Of a body with too many levels: that one is no matter of size. */
export const tooDeep = `is nested deeper than ${maxBodyDepth} levels`;

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];

/** By how many levels a byte goes deeper. */
const levelsOf = new Int8Array(256);
for (const byte of Buffer.from("{[")) levelsOf[byte] = 1;
for (const byte of Buffer.from("}]")) levelsOf[byte] = -1;

/** Of this process: nobody can prepare names with the same hash. */
const factor = 2 * randomInt(2 ** 29, 2 ** 30) + 1;

const hashOf = (bytes: Uint8Array, from: number, to: number): number => {
  let hash = 0;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), factor);
  return hash;
};

/** Where the text ends that begins at `from`: at its closing quote. */
const endOfText = (bytes: Uint8Array, from: number): number => {
  let at = from;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
};

type Counts = { entries: number; depth: number; names: number };

const problemOf = ({ entries, depth, names }: Counts, mostEntries: number): string | undefined => {
  if (entries > mostEntries) return `has more than ${mostEntries} entries: fields of objects and items of lists`;
  if (depth > maxBodyDepth) return tooDeep;
  return names > maxBodyNames ? `has more than ${maxBodyNames} different names of fields` : undefined;
};

/**
 * What a body has too much of, in words; undefined for a body within the bounds. An entry is a field of an object or an
 * item of a list; each list and object counts as one, too. `bytes`: UTF-8.
 */
export const excessOf = (bytes: Uint8Array, mostEntries: number): string | undefined => {
  const names = new Set<number>();
  const text = { from: 0, to: 0 };
  let entries = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    const levels = levelsOf[byte] ?? 0;
    depth += levels;
    if (byte === quote) {
      text.from = at + 1;
      text.to = endOfText(bytes, text.from);
      at = text.to;
    } else if (byte === comma || levels > 0) entries += 1;
    else if (byte === colon) names.add(hashOf(bytes, text.from, text.to));
    if (entries > mostEntries || depth > maxBodyDepth || names.size > maxBodyNames) break;
  }
  return problemOf({ entries, depth, names: names.size }, mostEntries);
};
