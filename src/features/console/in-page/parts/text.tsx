/**
 * Text that somebody else chose: a name, a title, a URL. It stands apart from the text around it, so that a
 * right-to-left sign turns nothing else, and signs that nobody sees are shown as their code.
 */

/** Controls, separators of lines, and signs that change the direction or have no width. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Joins the parts of many emoji and scripts. */
const joiners = new Set(["\u200c", "\u200d"]);

const codeOf = (sign: string): string => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;

/** The text with each unseen sign as its code. */
export const plainText = (text: string): string =>
  text.replace(unseen, (sign) => (joiners.has(sign) ? sign : codeOf(sign)));

/** The text, cut off where it has no room; the whole is its title. */
export const Text = ({ of, mono = false }: { of: string; mono?: boolean }) => {
  const text = plainText(of);
  return (
    <bdi class={mono ? "text mono" : "text"} title={text}>
      {text}
    </bdi>
  );
};
