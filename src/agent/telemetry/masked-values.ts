/**
 * The values that a vault has filled into this lease's pages. A page can write them into its console or its URLs: they are replaced in all
 * that leaves the agent as an event. In memory only, until the lease ends.
 */

const replacement = "[filled]";

/** Shorter values would be found in every other text: they are replaced only where they are the whole text. */
const minPartLength = 4;

/** Values that one lease has at most; a fill writes 50. */
const maxValues = 1000;

export type MaskedValues = {
  /** Adds values; false when there are too many for a lease. */
  add(values: readonly string[]): boolean;
  /** A copy of JSON data in which no text has one of the values, as they are or percent-encoded. */
  mask(data: unknown): unknown;
};

/** What a browser makes of an address that ends with the value: it encodes less than `encodeURIComponent`, and other characters in each part. */
const inAddresses = (value: string): string[] =>
  ["", "?", "#"].map((part) => {
    const before = `http://h/${part}`;
    return URL.parse(before + value)?.href.slice(before.length) ?? "";
  });

const formsOf = (value: string): string[] => {
  const wellFormed = value.toWellFormed();
  const encoded = encodeURIComponent(wellFormed);
  const form = new URLSearchParams({ v: wellFormed }).toString().slice("v=".length);
  const all = [value, encoded, encoded.toLowerCase(), form, JSON.stringify(value).slice(1, -1), ...inAddresses(value)];
  // Of a value with dots an address may leave little.
  return all.filter(({ length }) => length >= minPartLength);
};

/** Nothing is masked yet. */
export const createMaskedValues = (): MaskedValues => {
  const values = new Set<string>();
  const short = new Set<string>();
  /** The longest first: one value may be a part of another. */
  let forms: string[] = [];

  const maskText = (text: string): string => {
    if (short.has(text)) return replacement;
    let masked = text;
    for (const form of forms) if (masked.includes(form)) masked = masked.replaceAll(form, replacement);
    return masked;
  };

  const mask = (data: unknown): unknown => {
    if (typeof data === "string") return maskText(data);
    if (Array.isArray(data)) return data.map(mask);
    if (data === null || typeof data !== "object") return data;
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [maskText(key), mask(value)]));
  };

  return {
    add(added) {
      for (const value of added) {
        if (value === "") continue;
        if (values.size >= maxValues && !values.has(value)) return false;
        values.add(value);
        if (value.length < minPartLength) short.add(value);
      }
      const long = [...values].filter((value) => value.length >= minPartLength);
      forms = [...new Set(long.flatMap(formsOf))].sort((a, b) => b.length - a.length);
      return true;
    },
    mask: (data) => (values.size === 0 ? data : mask(data)),
  };
};
