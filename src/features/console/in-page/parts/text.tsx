/**
 * Text that somebody else chose: a name, a title, a URL. It stands apart from the text around it, so that a
 * right-to-left sign turns nothing else, signs that nobody sees are shown as their code, and marks pile up on no letter.
 */

/** Controls, separators of lines, and signs that change the direction or have no width. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Joins the parts of many emoji and scripts. */
const joiners = new Set(["\u200c", "\u200d"]);

const codeOf = (sign: string): string => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;

/** More marks on one letter than any script has: they would cover the lines around it. */
const piledMarks = /(\p{M}{6})\p{M}+/gu;

/** Letters that are read from the right. */
const fromTheRight = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * The text with each unseen sign as its code, and without the rest of a pile of marks. One that is read from the right
 * is set apart from the sentence that it stands in.
 */
export const plainText = (text: string): string => {
  const seen = text.replace(unseen, (sign) => (joiners.has(sign) ? sign : codeOf(sign))).replace(piledMarks, "$1…");
  return fromTheRight.test(seen) ? `\u2068${seen}\u2069` : seen;
};

/** The text, cut off where it has no room; the whole is its title. */
export const Text = ({ of, mono = false }: { of: string; mono?: boolean }) => {
  const text = plainText(of);
  return (
    <bdi class={mono ? "text mono" : "text"} title={text}>
      {text}
    </bdi>
  );
};
