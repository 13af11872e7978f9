/**
 * The values that a vault has filled into this lease's pages. A page can write them into its console or its URLs: they
 * are replaced in all that leaves the agent as an event or as a text of a live view. In memory only, until the lease
 * ends.
 *
 * A text is searched in several copies: itself, and one for each layer of escapes (decoded-copies.ts). In each copy all
 * forms of all values are searched (value-forms.ts). What is found is replaced in the text, from where its first
 * character comes to where its last one does; what overlaps is replaced together, since the rest of one value would
 * tell the other.
 */

import { type Copy, decodedCopies } from "./decoded-copies.ts";
import { fold, formsOf, minFormLength } from "./value-forms.ts";

// Many forms that are searched in one text at once: its time depends on the text's length, and little on how many forms
// there are.

/** From and to in the searched text. */
type Span = [number, number];

type FormIndex = {
  add(form: string): void;
  /** Every place with a form; of those that begin at the same character the longest. */
  find(text: string): Span[];
};

/** Nothing is found yet. Forms have at least `minFormLength` characters. */
const createFormIndex = (): FormIndex => {
  /** By their first characters; the longest first, once they are searched: one may be the beginning of another. */
  const byHead = new Map<string, { forms: Set<string>; isSorted: boolean }>();
  /** Most places are passed over by two characters. */
  const pairs = new Uint8Array(65_536);
  const pairAt = (text: string, at: number): number =>
    ((text.charCodeAt(at) * 251) ^ text.charCodeAt(at + 1)) & 0xff_ff;
  const formAt = (text: string, at: number): string | undefined => {
    const group = byHead.get(text.slice(at, at + minFormLength));
    if (!group) return undefined;
    if (!group.isSorted) {
      group.forms = new Set([...group.forms].sort((a, b) => b.length - a.length));
      group.isSorted = true;
    }
    return group.forms.values().find((form) => text.startsWith(form, at));
  };
  return {
    add(form) {
      const head = form.slice(0, minFormLength);
      byHead.set(head, { forms: (byHead.get(head)?.forms ?? new Set()).add(form), isSorted: false });
      pairs[pairAt(form, 0)] = 1;
    },
    find(text) {
      const spans: Span[] = [];
      for (let at = 0; at + minFormLength <= text.length; at += 1) {
        if (pairs[pairAt(text, at)] === 0) continue;
        const form = formAt(text, at);
        if (form) spans.push([at, at + form.length]);
      }
      return spans;
    },
  };
};

const replacement = "[filled]";

/** Values that one lease has at most, and their characters; a fill writes 50 of 4096 characters. */
const maxValues = 1000;
const maxChars = 256 * 1024;

/**
 * Longest text that is searched, characters: of an event 2048 are kept, of a tab's address 1000. The rest is dropped
 * unread.
 */
const maxSearched = 16 * 1024;

export type MaskedValues = {
  /** Adds values; false when there are too many for a lease. */
  add(values: readonly string[]): boolean;
  /**
   * A copy of JSON data in which no text has one of the values. `maxTextChars`: what is longer is cut, and then so far
   * that no part of a value is left at its end.
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
