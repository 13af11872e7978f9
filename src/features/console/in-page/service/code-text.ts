/**
 * Code that names what somebody else chose. Signs that nobody sees, or that turn what is around them, would make code
 * look like other code; they are written as escapes, which mean the same.
 */

/** As in parts/text.tsx, but for the breaks and tabs that code has. The joiners of emoji and scripts stay. */
const unseen = /[\u007f-\u009f\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

/** Code of a language with the strings of JSON. */
export const codeText = (code: string): string =>
  code.replace(unseen, (sign) =>
    Array.from({ length: sign.length }, (_, at) => `\\u${hex(sign.charCodeAt(at), 4)}`).join(""),
  );

/** An object as YAML. */
export const yamlOf = async (object: object): Promise<string> => {
  const { Document, Scalar, visit } = await import("yaml");
  const document = new Document(object);
  visit(document, {
    Scalar(_key, node) {
      // Only between these quotes YAML has escapes.
      if (typeof node.value === "string" && node.value.search(unseen) >= 0) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString().replace(unseen, (sign) => `\\U${hex(sign.codePointAt(0) ?? 0, 8)}`);
};
