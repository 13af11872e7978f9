/** How a page can write a value so that one program reads it back, but for the escapes that decoded-copies.ts reads. */
import { decodedCopies } from "./decoded-copies.ts";

/** Shorter texts would be found in every other one. */
export const minFormLength = 4;

/**
 * Values from this length on are searched character by character, with something between: shorter ones would be found
 * in lists of numbers.
 */
const minApart = 6;

/** Values up to this length are, too: each has twenty forms more. */
const maxApart = 128;

/** What stands between characters, bytes or codes that are written one by one. */
const between = [" ", ",", ", ", ":", "-", '","', "','", '", "', "', '", "|", "\n"];

/**
 * What a browser makes of an address that ends with the value: it encodes less than `encodeURIComponent`, and other
 * characters in each part.
 */
const inAddresses = (value: string): string[] =>
  ["", "?", "#"].map((part) => {
    const before = `http://h/${part}`;
    return URL.parse(before + value)?.href.slice(before.length) ?? "";
  });

/**
 * The bytes in base64 inside of a longer text: those characters that depend on nothing else, for each of the three
 * places that it can begin at.
 */
const inBase64 = (bytes: Buffer): string[] =>
  [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });

const inUrlAlphabet = (base64: string): string => base64.replaceAll("+", "-").replaceAll("/", "_");

const hexOf = (bytes: Buffer): string[] => [...bytes].map((byte) => byte.toString(16).padStart(2, "0"));

/** Characters, bytes and codes with something between. */
const apart = (value: string, bytes: Buffer): string[] => {
  if (value.length < minApart || value.length > maxApart) return [];
  const codes = [...bytes].map(String);
  const lists = [[...value], hexOf(bytes), codes].flatMap((list) => between.map((sign) => list.join(sign)));
  const prefixed = [" ", ",", ", "].map((sign) =>
    hexOf(bytes)
      .map((hex) => `0x${hex}`)
      .join(sign),
  );
  // A `Uint8Array` as JSON and as a console shows it.
  const numbered = ['"0":', "0: "].map((first) =>
    codes.map((code, at) => first.replace("0", String(at)) + code).join(first === '"0":' ? "," : ", "),
  );
  return [...lists, ...prefixed, ...numbered];
};

/** `folded`: found in any case of letters, and with `+` for a blank. `exact`: as they are. */
type ValueForms = { folded: string[]; exact: string[] };

/** What two texts have in common that differ in case, or in how a form's blanks are written. The length stays. */
export const fold = (text: string): string => {
  const lower = text.toLowerCase();
  const same = lower.length === text.length ? lower : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return same.replaceAll("+", " ");
};

/** All forms of a value that are long enough to be searched. */
export const formsOf = (value: string): ValueForms => {
  const bytes = Buffer.from(value.toWellFormed());
  const latin = /^[\0-\xff]*$/.test(value) ? [Buffer.from(value, "latin1")] : [];
  const base64 = [bytes, ...latin].flatMap(inBase64);
  // A value with escapes of its own is read by the passes, too.
  const read = decodedCopies(value).map(({ text }) => text);
  const folded = [...read, value.toWellFormed(), ...inAddresses(value), hexOf(bytes).join(""), ...apart(value, bytes)];
  const chosen = (forms: string[]): string[] => [...new Set(forms)].filter(({ length }) => length >= minFormLength);
  return { folded: chosen(folded.map(fold)), exact: chosen([...base64, ...base64.map(inUrlAlphabet)]) };
};
