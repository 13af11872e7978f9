import type { SourcePatch } from "../robustness/hook/source-patch.ts";

/** A named change of one place of the product's source. */
export type Mutation = SourcePatch & { name: string; kind: string };

/** The sorts of mistakes that people make, and reviewers miss. */
const mistakeKinds = [
  "off by one",
  "inverted condition",
  "forgotten await",
  "missing check",
  "wrong order",
  "forgotten clean-up",
  "wrong default",
  "swallowed error",
  "missing signal",
  "wrong status code",
  "limit on the wrong side",
  "name instead of id",
  "secret in a log line",
  "lost update",
  "stale input",
  "other",
] as const;

/** A realistic mistake that was written by hand and is kept. Its name is in kebab case. It passes `npm run check`. */
export type KeptMistake = Mutation & {
  kind: (typeof mistakeKinds)[number];
  /** What goes wrong for a caller, an operator of the service, or the cluster; one sentence. */
  breaks: string;
  /** The test file that notices it; left out for one that may stay. */
  foundBy?: string;
  /** Why it is all right that no test notices it. */
  mayStay?: string;
};

/** The first character that a mutation changes, from the start of `find`. */
const firstChange = ({ find, replace }: SourcePatch): number => {
  let at = 0;
  while (at < find.length - 1 && find[at] === replace[at]) at += 1;
  return at;
};

/** Where in the text of its file a mutation changes something; below 0 when it does not fit. */
export const placeOf = (patch: SourcePatch, text: string): number => {
  const at = text.indexOf(patch.find);
  return at < 0 ? at : at + firstChange(patch);
};

const mostShown = 160;

/** What a mutation changes, for a reader, in two lines: what it takes, and what it puts there. */
export const diffOf = ({ find, replace }: SourcePatch): string => {
  const [before, after] = [find.split("\n"), replace.split("\n")];
  let [first, last] = [0, 0];
  const least = Math.min(before.length, after.length);
  while (first < least && before[first] === after[first]) first += 1;
  while (last < least - first && before.at(-1 - last) === after.at(-1 - last)) last += 1;
  const shown = (lines: string[]): string => {
    const line = lines
      .slice(first, lines.length - last)
      .join(" ")
      .replace(/\s+/g, " ")
      .trim();
    if (line === "") return "(nothing)";
    return line.length > mostShown ? `${line.slice(0, mostShown)}…` : line;
  };
  return `- ${shown(before)}\n+ ${shown(after)}`;
};
