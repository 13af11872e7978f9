import { randomInt } from "node:crypto";

const letters = "abcdefghijklmnopqrstuvwxyz";
const lettersAndDigits = `${letters}0123456789`;
/** Characters of an id. */
export const idLength = 24;

// The index is within the text.
const anyOf = (characters: string): string => characters[randomInt(characters.length)] as string;

const idPattern = new RegExp(`^[a-z][a-z0-9]{${idLength - 1}}$`);

/** Whether a text may be an id: no name of the users' looks like one by chance. */
export const isId = (text: string): boolean => idPattern.test(text);

/**
 * A new id: 24 lower-case letters and digits, a letter first, as Kubernetes requires of names. Its 123 random bits make it unique
 * and reveal nothing.
 */
export const newId = (): string => {
  let id = anyOf(letters);
  while (id.length < idLength) id += anyOf(lettersAndDigits);
  return id;
};
