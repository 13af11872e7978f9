import { randomOf } from "../robustness/random.ts";
import { UsageError } from "../support/command-line.ts";
import { allMutations, areaOf } from "./all-mutations.ts";
import type { Mutation } from "./mutation.ts";
import type { Selection } from "./options.ts";

/** What is known of mistakes, by name: those that came to an answer, and of these those that were found. */
type KnownMutations = { answered: ReadonlySet<string>; found: ReadonlySet<string> };

/**
 * The mistakes that a command line asks for, in their order: with `--left` none that came to an answer; a sample is of those that were found,
 * so that what it does not find is news. Throws a `UsageError` for a name that is not known.
 */
export const selectMutations = (
  { area, only, left, sample, seed }: Selection,
  { answered, found }: KnownMutations,
): Mutation[] => {
  const unknown = only.find((name) => !allMutations.some((mutation) => mutation.name === name));
  if (unknown !== undefined) throw new UsageError(`--only: there is no mistake ${unknown}; see --list`);
  const asked = allMutations
    .filter((mutation) => area.length === 0 || area.includes(areaOf(mutation)))
    .filter(({ name }) => only.length === 0 || only.includes(name))
    .filter(({ name }) => !(left && answered.has(name)));
  if (sample === undefined) return asked;
  const drawn = new Set(
    randomOf(seed)
      .shuffle(asked.filter(({ name }) => found.has(name)))
      .slice(0, sample),
  );
  return asked.filter((mutation) => drawn.has(mutation));
};
