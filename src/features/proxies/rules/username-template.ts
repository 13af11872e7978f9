/**
 * Templates of usernames, by which providers of proxies are told what is wanted:
 *
 *   customer-acme[-cc-{country}][-city-{city}]-session-{session}
 *
 *   {name}   the value of that name
 *   [ … ]    a part that drops out when one of its values is missing; parts don't nest
 *
 * Anything else stands for itself.
 */

/** A piece of text, or the name of a value. */
type Piece = { text: string } | { value: string };

/** `isOptional`: the part was in brackets. */
type Part = { isOptional: boolean; pieces: Piece[] };

export type UsernameTemplate = readonly Part[];

const piecesOf = (text: string): Piece[] =>
  text
    .split(/(\{[^{}]*\})/)
    .filter((piece) => piece !== "")
    .map((piece) => (piece.startsWith("{") ? { value: piece.slice(1, -1) } : { text: piece }));

/** Reads a template. `names`: the values that there are. Throws an `Error` that says what is wrong. */
export const parseTemplate = (text: string, names: readonly string[]): UsernameTemplate => {
  const parts = text
    .split(/(\[[^[\]]*\])/)
    .filter((part) => part !== "")
    .map((part): Part => {
      const isOptional = part.startsWith("[");
      return { isOptional, pieces: piecesOf(isOptional ? part.slice(1, -1) : part) };
    });
  for (const piece of parts.flatMap(({ pieces }) => pieces)) {
    if ("text" in piece && /[[\]{}]/.test(piece.text))
      throw new Error(`the brackets around "${piece.text}" don't match`);
    if ("value" in piece && !names.includes(piece.value))
      throw new Error(`{${piece.value}} is none of ${names.map((name) => `{${name}}`).join(" ")}`);
  }
  return parts;
};

/** The names of the values that a template uses. */
export const valuesOf = (template: UsernameTemplate): Set<string> =>
  new Set(template.flatMap(({ pieces }) => pieces.flatMap((piece) => ("value" in piece ? piece.value : []))));

/** Those of the names without which nothing can be rendered. */
export const neededValues = (template: UsernameTemplate): Set<string> =>
  valuesOf(template.filter(({ isOptional }) => !isOptional));

/** The text for these values; undefined when a needed value is missing. */
export const renderTemplate = (
  template: UsernameTemplate,
  values: Readonly<Record<string, string | undefined>>,
): string | undefined => {
  const isMissing = (piece: Piece): boolean => "value" in piece && values[piece.value] === undefined;
  const kept = template.filter(({ isOptional, pieces }) => !(isOptional && pieces.some(isMissing)));
  if (kept.some(({ pieces }) => pieces.some(isMissing))) return undefined;
  const pieces = kept.flatMap((part) => part.pieces);
  return pieces.map((piece) => ("text" in piece ? piece.text : values[piece.value])).join("");
};
