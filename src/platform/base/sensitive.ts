import { inspect } from "node:util";

const redacted = "[redacted]";

/**
 * A value that is used but never shown: a password, a TOTP seed, a key. Logs, JSON, template strings and `inspect` get
 * `[redacted]`; a structured clone is empty. Only `reveal` returns the value, so a search for `reveal` finds every use.
 */
export class Sensitive<Value extends string | Uint8Array = string> {
  readonly #value: Value;

  constructor(value: Value) {
    this.#value = value;
  }

  /** The value itself. Call it where the value is used, and do not keep the result longer than that. */
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
