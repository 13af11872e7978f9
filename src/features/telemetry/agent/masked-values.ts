/**
 * The values that a vault has filled into this lease's pages. A page can write them into its console or its URLs: they are replaced in all
 * that leaves the agent as an event or as a text of a live view. In memory only, until the lease ends.
 *
 * A text is searched in several copies: itself, and one for each layer of escapes (decoded-copies.ts). In each copy all forms of all values
 * are searched (value-forms.ts). What is found is replaced in the text, from where its first character comes to where its last one does;
 * what overlaps is replaced together, since the rest of one value would tell the other.
 */
import { type Copy, decodedCopies } from "./decoded-copies.ts";
import { createFormIndex, type Span } from "./form-index.ts";
import { fold, formsOf, minFormLength } from "./value-forms.ts";

const replacement = "[filled]";

/** Values that one lease has at most, and their characters; a fill writes 50 of 4096 characters. */
const maxValues = 1000;
const maxChars = 256 * 1024;

/** Longest text that is searched, characters: of an event 2048 are kept, of a tab's address 1000. The rest is dropped unread. */
const maxSearched = 16 * 1024;

export type MaskedValues = {
  /** Adds values; false when there are too many for a lease. */
  add(values: readonly string[]): boolean;
  /**
   * A copy of JSON data in which no text has one of the values. `maxTextChars`: what is longer is cut, and then so far that no part of
   * a value is left at its end.
   */
  mask(data: unknown, maxTextChars?: number): unknown;
};

/** Joins what overlaps. */
const joined = (spans: Span[]): Span[] => {
  const all: Span[] = [];
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
};

/** At its ends a value in base64 shares characters with what is beside it. */
const withEdges = ([from, to]: Span, text: string): Span => {
  const isShared = (at: number): boolean => /[A-Za-z0-9+/_-]/.test(text[at] ?? "");
  return [isShared(from - 1) ? from - 1 : from, isShared(to) ? to + 1 : to];
};

/** Nothing is masked yet. */
export const createMaskedValues = (): MaskedValues => {
  const values = new Set<string>();
  /** Shorter than a form may be: replaced only where they are the whole text. */
  const short = new Set<string>();
  const folded = createFormIndex();
  const exact = createFormIndex();
  let chars = 0;
  let longest = 0;

  const spansIn = ({ text, starts }: Copy): Span[] => {
    const found = [...folded.find(fold(text)), ...exact.find(text).map((span) => withEdges(span, text))];
    return found.map(([from, to]) => [starts[from] ?? 0, starts[to] ?? 0]);
  };
  const isShort = ({ text }: Copy): boolean => text.length < minFormLength && short.has(fold(text));

  /** Where a text that was cut is cut once more: before anything that may be the beginning of a value. */
  const endOf = (copies: Copy[]): number =>
    Math.min(...copies.map(({ text, starts }) => starts[Math.max(0, text.length - longest)] ?? 0));

  const maskText = (whole: string, maxTextChars: number): string => {
    const text = whole.slice(0, maxTextChars);
    const copies = decodedCopies(text);
    if (copies.some(isShort)) return replacement;
    const end = text.length < whole.length ? endOf(copies) : text.length;
    let [masked, done] = ["", 0];
    for (const [from, to] of joined(copies.flatMap(spansIn))) {
      if (from >= end) break;
      masked += text.slice(done, from) + replacement;
      done = to;
    }
    return masked + text.slice(done, Math.max(done, end));
  };

  const mask = (data: unknown, maxTextChars: number): unknown => {
    if (typeof data === "string") return maskText(data, maxTextChars);
    if (Array.isArray(data)) return data.map((each) => mask(each, maxTextChars));
    if (data === null || typeof data !== "object") return data;
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [maskText(key, maxTextChars), mask(value, maxTextChars)]),
    );
  };

  const addOne = (value: string): void => {
    values.add(value);
    chars += value.length;
    if (value.length < minFormLength) short.add(fold(value));
    const forms = formsOf(value);
    for (const form of forms.folded) folded.add(form);
    for (const form of forms.exact) exact.add(form);
    longest = Math.max(longest, ...[...forms.folded, ...forms.exact].map(({ length }) => length));
  };

  return {
    add(added) {
      for (const value of added) {
        if (value === "" || values.has(value)) continue;
        if (values.size >= maxValues || chars + value.length > maxChars) return false;
        addOne(value);
      }
      return true;
    },
    mask: (data, maxTextChars = maxSearched) => (values.size === 0 ? data : mask(data, maxTextChars)),
  };
};
