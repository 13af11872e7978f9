import { inspect } from "node:util";

const redacted = "[redacted]";

/**
 * A value that is used and never shown: a password, a TOTP seed, a key. Logs, JSON, template strings and `inspect` get
 * `[redacted]`, a structured clone is empty; `reveal` is the only way out, so that a search for it finds every use.
 */
export class Sensitive<Value extends string | Uint8Array = string> {
  readonly #value: Value;

  constructor(value: Value) {
    this.#value = value;
  }

  /** The value itself. Call it where the value is used, and keep the result in no variable that outlives the use. */
  reveal(): Value {
    return this.#value;
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
