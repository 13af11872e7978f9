/** Many forms that are searched in one text at once: its time depends on the text's length, and little on how many forms there are. */
import { minFormLength } from "./value-forms.ts";

/** From and to in the searched text. */
export type Span = [number, number];

type FormIndex = {
  add(form: string): void;
  /** Every place with a form; of those that begin at the same character the longest. */
  find(text: string): Span[];
};

/** Nothing is found yet. Forms have at least `minFormLength` characters. */
export const createFormIndex = (): FormIndex => {
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
