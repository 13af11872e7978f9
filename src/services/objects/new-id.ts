import { randomInt } from "node:crypto";

const letters = "abcdefghijklmnopqrstuvwxyz";
const lettersAndDigits = `${letters}0123456789`;
const length = 24;

const anyOf = (characters: string): string => characters[randomInt(characters.length)] as string;

/** A new id: 24 lower-case letters and digits, a letter first, as Kubernetes wants names. 123 random bits, so it tells nothing and is never met again. */
export const newId = (): string => {
  let id = anyOf(letters);
  while (id.length < length) id += anyOf(lettersAndDigits);
  return id;
};
