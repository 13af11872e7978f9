/**
 * What a text says when the escapes in it are read: percent-encoding, HTML's references and the escapes of JSON and
 * JavaScript, one layer in each pass. Each copy knows where in the text its characters come from.
 */

/**
 * A text to search. `starts`: the place in the first text of each character, and of the end; the places follow each
 * other without gaps.
 */
export type Copy = { text: string; starts: Uint32Array };

/** Layers that are read: a page that encodes more often has taken a value to pieces. */
const maxPasses = 4;

const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
const control: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", 0: "\0" };

const escapes =
  /((?:%[0-9a-f]{2})+)|%u([0-9a-f]{4})|&#(\d{1,7});?|&#x([0-9a-f]{1,6});?|&(amp|lt|gt|quot|apos|nbsp);?|\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|\\([^ux])/gi;

const ofCode = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd");
const ofHex = (digits: string): string => ofCode(Number.parseInt(digits, 16));

/** How many bytes the UTF-8 character that begins with this byte has. */
const lengthOf = (lead: number): number => [0xf0, 0xe0, 0xc0].findIndex((from) => lead >= from);

/**
 * The characters of percent-encoded bytes, each with how many bytes it has. What is no UTF-8 is Latin-1, as `escape`
 * writes it.
 */
const ofBytes = function* (bytes: Buffer): Generator<[string, number]> {
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0;
    const size = lead < 0xc0 ? 1 : 4 - lengthOf(lead);
    const read = bytes.toString("utf8", at, at + size);
    const isOne = lead < 0x80 || (size > 1 && !read.includes("\ufffd") && at + size <= bytes.length);
    yield isOne ? [read, size] : [String.fromCharCode(lead), 1];
    at += isOne ? size : 1;
  }
};

const ofEscape = ([, , unit, decimal, hex, name, u, point, x, other]: RegExpMatchArray): string => {
  if (decimal !== undefined) return ofCode(Number(decimal));
  if (name !== undefined) return named[name.toLowerCase()] ?? "";
  if (other !== undefined) return control[other] ?? other;
  return ofHex(unit ?? hex ?? u ?? point ?? x ?? "0");
};

/** The text with one layer of escapes read; undefined when it has none. */
const decode = ({ text, starts }: Copy): Copy | undefined => {
  let decoded = "";
  const places: number[] = [];
  const add = (part: string, from: number): void => {
    decoded += part;
    for (let unit = 0; unit < part.length; unit += 1) places.push(starts[from] ?? 0);
  };
  let done = 0;
  const copyUntil = (end: number): void => {
    decoded += text.slice(done, end);
    for (let at = done; at < end; at += 1) places.push(starts[at] ?? 0);
  };
  for (const match of text.matchAll(escapes)) {
    copyUntil(match.index);
    const [whole, percent] = match;
    if (percent === undefined) add(ofEscape(match), match.index);
    else {
      let from = match.index;
      for (const [part, bytes] of ofBytes(Buffer.from(percent.replaceAll("%", ""), "hex"))) {
        add(part, from);
        from += 3 * bytes;
      }
    }
    done = match.index + whole.length;
  }
  if (done === 0) return undefined;
  copyUntil(text.length);
  places.push(starts[text.length] ?? 0);
  return { text: decoded, starts: Uint32Array.from(places) };
};

/** The text itself, and one copy for each layer of escapes in it. */
export const decodedCopies = (text: string): Copy[] => {
  const copies: Copy[] = [{ text, starts: Uint32Array.from({ length: text.length + 1 }, (_, at) => at) }];
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const copy = decode(copies.at(-1) as Copy);
    if (!copy) break;
    copies.push(copy);
  }
  return copies;
};
