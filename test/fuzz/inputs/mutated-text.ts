/** Texts that are nearly valid, and what is hard about text. */
import fc from "fast-check";

/** Text that programs stumble over. */
export const hardTexts = [
  "",
  " ",
  "\0",
  "\n",
  "\r\n",
  "\ud800",
  "\udc00x",
  "\u202e",
  "\ufeff",
  "\u0130",
  "ß",
  "é",
  "e\u0301",
  "💥",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "null",
  "undefined",
  "NaN",
  "-0",
  "1e999",
  "../..",
  "%00",
  "%2e%2e",
  "{{x}}",
  "$&",
  "$1",
  "'",
  '"',
  "\\",
] as const;

/** Any text, hard ones among them. */
export const anyText = (maxLength = 20): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ maxLength }),
    fc.string({ maxLength, unit: "binary" }),
    fc.constantFrom(...hardTexts),
    fc.array(fc.constantFrom(...hardTexts), { maxLength: 4 }).map((texts) => texts.join("")),
  );

type Change = (text: string) => string;

const place = fc.integer({ min: 0, max: 0xffff });
const at = (text: string, share: number): number => Math.floor((text.length * share) / 0x10000);

/** A text with up to so many changes, none among them. `tokens`: words of the format, which are put in. */
export const mutatedText = (
  valid: fc.Arbitrary<string>,
  { tokens = [], mostChanges = 4 }: { tokens?: readonly string[]; mostChanges?: number } = {},
): fc.Arbitrary<string> => {
  const some = tokens.length > 0 ? fc.oneof(fc.constantFrom(...tokens), anyText(6)) : anyText(6);
  const change: fc.Arbitrary<Change> = fc.oneof(
    fc.tuple(place, some).map(
      ([share, word]): Change =>
        (text) =>
          text.slice(0, at(text, share)) + word + text.slice(at(text, share)),
    ),
    fc.tuple(place, fc.integer({ min: 1, max: 8 })).map(
      ([share, count]): Change =>
        (text) =>
          text.slice(0, at(text, share)) + text.slice(at(text, share) + count),
    ),
    fc.tuple(place, some).map(
      ([share, word]): Change =>
        (text) =>
          text.slice(0, at(text, share)) + word + text.slice(at(text, share) + 1),
    ),
    place.map(
      (share): Change =>
        (text) =>
          text.slice(0, at(text, share)),
    ),
    fc.tuple(place, fc.integer({ min: 1, max: 3000 })).map(
      ([share, times]): Change =>
        (text) =>
          text.slice(0, at(text, share)) + (text[at(text, share)] ?? "a").repeat(times) + text.slice(at(text, share)),
    ),
    fc.constantFrom<Change>(
      (text) => text.toUpperCase(),
      (text) => text.normalize("NFD"),
      percentEncoded,
      (text) => text + text,
    ),
  );
  return fc
    .tuple(valid, fc.array(change, { maxLength: mostChanges }))
    .map(([text, changes]) => changes.reduce((so, one) => one(so), text));
};

/** Each character in percent-encoding, as URLs may have it. */
function percentEncoded(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}
