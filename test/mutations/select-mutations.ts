import { randomOf } from "../robustness/random.ts";
import { allMutations, areaOf } from "./all-mutations.ts";
import type { Mutation } from "./mutation.ts";
import { type Selection, UsageError } from "./options.ts";

/** The mistakes that a command line asks for, in their order. Throws a `UsageError` for a name that is not known. */
export const selectMutations = (
  { area, only, sample, seed }: Selection,
  all: readonly Mutation[] = allMutations,
): Mutation[] => {
  const unknown = only.find((name) => !all.some((mutation) => mutation.name === name));
  if (unknown !== undefined) throw new UsageError(`--only: there is no mistake ${unknown}; see --list`);
  const asked = all
    .filter((mutation) => area.length === 0 || area.includes(areaOf(mutation)))
    .filter(({ name }) => only.length === 0 || only.includes(name));
  if (sample === undefined) return asked;
  const drawn = new Set(
    randomOf(seed)
      .shuffle(asked.filter(({ mayStay }) => mayStay === undefined))
      .slice(0, sample),
  );
  return asked.filter((mutation) => drawn.has(mutation));
};
