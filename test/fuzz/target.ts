/** What one target of the fuzzing is. */
import type fc from "fast-check";

/** What checks the cases of a run. `check` throws for an input that breaks a property. */
export type OpenTarget<Input> = {
  check(input: Input): void | Promise<void>;
  /** Once after some hundreds of cases and at the end: whether what they share is still well. Throws when it isn't. */
  isWell?(): Promise<void>;
  /** What it has opened is gone when this resolves. */
  close?(): Promise<void>;
};

/**
 * A place where bytes, texts or objects of others come in. A file in `targets/` exports one as `target`, and opens
 * nothing by that.
 */
export type FuzzTarget<Input> = {
  /** What comes in, from whom, and what must hold. */
  about: string;
  inputs: fc.Arbitrary<Input>;
  open(): OpenTarget<Input> | Promise<OpenTarget<Input>>;
};

/** A target whose inputs nobody looks into. */
// biome-ignore lint/suspicious/noExplicitAny: each target has inputs of its own
export type AnyTarget = FuzzTarget<any>;

/** A property that does not hold. */
export class Broken extends Error {
  override name = "Broken";
}

/** Throws `Broken` with this text unless it holds. */
export const must = (holds: boolean, text: string): void => {
  if (!holds) throw new Broken(text);
};

type Thrown<T> = { value: T } | { refused: unknown };

/** What a call gives, or the error by which it refuses. Throws errors of any other kind: those are findings. */
export const orRefused = async <T>(call: () => T | Promise<T>, isRefusal: (error: unknown) => boolean) => {
  try {
    return { value: await call() } as Thrown<T>;
  } catch (error) {
    if (isRefusal(error)) return { refused: error } as Thrown<T>;
    throw error;
  }
};

/** As `orRefused`, of a call that gives its value at once. */
export const orRefusedSync = <T>(call: () => T, isRefusal: (error: unknown) => boolean): Thrown<T> => {
  try {
    return { value: call() };
  } catch (error) {
    if (isRefusal(error)) return { refused: error };
    throw error;
  }
};
