import { randomInt } from "node:crypto";

const letters = "abcdefghijklmnopqrstuvwxyz";
const lettersAndDigits = `${letters}0123456789`;
/** Characters of an id. */
const idLength = 24;

// The index is within the text.
const anyOf = (characters: string): string => characters[randomInt(characters.length)] as string;

const idPattern = new RegExp(`^[a-z][a-z0-9]{${idLength - 1}}$`);

/** Whether a text may be an id: no name of the users' looks like one by chance. */
export const isId = (text: string): boolean => idPattern.test(text);

/**
 * A new id: 24 lower-case letters and digits, a letter first, as Kubernetes requires of names. Its 123 random bits make
 * it unique and reveal nothing.
 */
export const newId = (): string => {
  let id = anyOf(letters);
  while (id.length < idLength) id += anyOf(lettersAndDigits);
  return id;
};

// The ids of sessions of pools. Each ends with the first characters of its pool's uid, so that one look finds a session
// among any number of pools, and an id of none costs no look. The session of an on-demand browser has the browser's id.

/**
 * Of a uid, which is random: of 500 pools, two have the same start in one of 130 installations, and then both are
 * asked.
 */
const tagLength = 6;

const tagOf = (poolUid: string): string => poolUid.slice(0, tagLength);

/** A new id (HTTP-10) for a session of this pool. 18 of its characters are random. */
export const newSessionId = (poolUid: string): string => newId().slice(0, -tagLength) + tagOf(poolUid);

/** Whether this is the id of a session that may be one of this pool. */
export const mayBeSessionOf = (id: string, poolUid: string): boolean =>
  id.length === idLength && id.endsWith(tagOf(poolUid));
