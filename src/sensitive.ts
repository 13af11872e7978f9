import { inspect } from "node:util";

const redacted = "[redacted]";

/**
 * A secret text that can't slip out by being printed, logged, joined to a string or serialised: all of these show
 * `[redacted]`. Whoever needs the text asks for it by name.
 */
export class Sensitive {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself; call it where it is used, and keep no copy. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [inspect.custom](): string {
    return redacted;
  }
}
