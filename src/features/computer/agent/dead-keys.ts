/** Dead keys: an accent that waits for its letter, as an input method composes them. */

/** X11's dead keys, and Unicode's combining characters. */
const combining: ReadonlyMap<number, string> = new Map([
  [0xfe50, "\u0300"],
  [0xfe51, "\u0301"],
  [0xfe52, "\u0302"],
  [0xfe53, "\u0303"],
  [0xfe54, "\u0304"],
  [0xfe55, "\u0306"],
  [0xfe56, "\u0307"],
  [0xfe57, "\u0308"],
  [0xfe58, "\u030a"],
  [0xfe59, "\u030b"],
  [0xfe5a, "\u030c"],
  [0xfe5b, "\u0327"],
  [0xfe5c, "\u0328"],
]);

type DeadKeys = {
  /** Whether a keysym is a dead key; then it waits for the next character. */
  takes(keysym: number): boolean;
  /** The character with the accent that waits; nothing where no such character exists, as with X11. */
  compose(character: string): string;
};

/** None waits. */
export const createDeadKeys = (): DeadKeys => {
  let accent = "";
  return {
    takes(keysym) {
      const mark = combining.get(keysym);
      if (mark !== undefined) accent = mark;
      return mark !== undefined;
    },
    compose(character) {
      if (accent === "") return character;
      const composed = `${character}${accent}`.normalize("NFC");
      accent = "";
      return [...composed].length === 1 ? composed : "";
    },
  };
};
