/**
 * Readers of what scripts reply: each throws an Error for a reply of another shape. They look at the outermost level only, which
 * costs next to nothing: JSON inside is its reader's to check.
 */

const unexpected = (reply: unknown, expected: string): Error =>
  new Error(`a Redis script replied with ${reply === null ? "nil" : typeof reply} instead of ${expected}`);

/** A list, of anything. */
export const listReply = (reply: unknown): unknown[] => {
  if (!Array.isArray(reply)) throw unexpected(reply, "a list");
  return reply;
};

/** A string. */
export const textReply = (reply: unknown): string => {
  if (typeof reply !== "string") throw unexpected(reply, "a string");
  return reply;
};

/** An integer. */
export const numberReply = (reply: unknown): number => {
  if (typeof reply !== "number") throw unexpected(reply, "an integer");
  return reply;
};

/** A list of strings. */
export const textsReply = (reply: unknown): string[] => listReply(reply).map(textReply);
