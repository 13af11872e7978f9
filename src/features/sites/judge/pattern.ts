/**
 * Patterns of the judge's rules: plain text in which `*` stands for any text, `^` at the beginning for the start of
 * what is looked at and `$` at the end for its end. Capitals, the kind of blanks and the kind of quotation marks do not
 * matter.
 *
 * They are no regular expressions: rules are tried on the event loop, on 64 KiB that a hostile page chooses. Even
 * without nested quantifiers `a*b` takes quadratic time on 64 KiB of `a`, and `a*a*b` minutes, so that refusing the
 * known bad forms of an administrator's patterns would not be enough, and no engine without backtracking is at hand.
 * Here each piece between two `*` is looked for once, from the end of the piece before it: the time is linear in the
 * text, whatever pattern and text are.
 */

/** The most characters of a pattern. */
export const maxPatternLength = 200;

/** Text as patterns see it: in lower case, with single blanks, plain quotation marks and plain dots. */
export const fold = (text: string): string =>
  text
    .replace(/\s+/g, " ")
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/\u2026/g, "...")
    .toLowerCase()
    .trim();

/** A pattern in its parts: `pieces` in their order, anything between them. */
type Pieces = { pieces: string[]; atStart: boolean; atEnd: boolean };

const split = (pattern: string): Pieces => {
  const atStart = pattern.startsWith("^");
  const atEnd = pattern.endsWith("$");
  const body = pattern.slice(atStart ? 1 : 0, atEnd ? -1 : undefined);
  return { pieces: fold(body).split("*"), atStart, atEnd };
};

/** Whether a text is a pattern that asks for something. An empty pattern would hold for every page. */
export const isPattern = (pattern: string): boolean => split(pattern).pieces.some((piece) => piece.trim() !== "");

/** The test for a pattern. It takes folded text. */
export const compilePattern = (pattern: string): ((folded: string) => boolean) => {
  const { pieces, atStart, atEnd } = split(pattern);
  const last = pieces.length - 1;
  return (folded) => {
    let from = 0;
    for (const [index, piece] of pieces.entries()) {
      const isFixed = index === last && atEnd;
      const at = isFixed ? folded.length - piece.length : folded.indexOf(piece, from);
      if (at < from || (index === 0 && atStart && at !== 0) || (isFixed && !folded.endsWith(piece))) return false;
      from = at + piece.length;
    }
    return true;
  };
};
