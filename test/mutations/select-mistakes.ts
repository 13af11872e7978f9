import { randomOf } from "../robustness/random.ts";
import { UsageError } from "../support/command-line.ts";
import { areaOf } from "./areas.ts";
import { keptMistakes } from "./kept-mistakes.ts";
import type { KeptMistake } from "./mutation.ts";
import type { KeptOptions } from "./options.ts";

/**
 * The kept mistakes that a command line asks for, in their order: with `--left` none that came to an answer; a sample
 * is of those that a test notices. Throws a `UsageError` for a name that is not known.
 */
export const selectMistakes = (
  { area, only, left, sample, seed }: Pick<KeptOptions, "area" | "only" | "left" | "sample" | "seed">,
  isAnswered: (mistake: KeptMistake) => boolean,
): KeptMistake[] => {
  const unknown = only.find((name) => !keptMistakes.some((mistake) => mistake.name === name));
  if (unknown !== undefined) throw new UsageError(`--only: there is no mistake ${unknown}; see --list`);
  const asked = keptMistakes
    .filter(({ file }) => area.length === 0 || area.includes(areaOf(file)))
    .filter(({ name }) => only.length === 0 || only.includes(name))
    .filter((mistake) => !(left && isAnswered(mistake)));
  if (sample === undefined) return asked;
  const drawn = new Set(
    randomOf(seed)
      .shuffle(asked.filter(({ mayStay }) => mayStay === undefined))
      .slice(0, sample),
  );
  return asked.filter((mistake) => drawn.has(mistake));
};
