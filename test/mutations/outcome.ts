import { z } from "zod";

/**
 * `files`: the test file that noticed it, or those that come to no end with it and do so without. `test`: the one that
 * failed.
 */
const Noticed = z.object({
  found: z.enum(["unit", "integration"]),
  files: z.array(z.string()),
  test: z.string(),
  error: z.string(),
});

/**
 * `unsteady`: only tests failed that fail without it, too; `tests` are these. `time is over`: and it is so without it.
 */
const Unnoticed = z.object({
  found: z.literal("no"),
  why: z.enum(["no test fits", "tests pass", "unsteady", "time is over"]),
  tests: z.array(z.string()).optional(),
});

const seconds = { seconds: z.number() };

/** What came of a mutation. `seconds`: what it took. */
export const Outcome = z.union([Noticed.extend(seconds), Unnoticed.extend(seconds)]);

export type Noticed = z.infer<typeof Noticed>;
export type Unnoticed = z.infer<typeof Unnoticed>;
export type Outcome = z.infer<typeof Outcome>;

/** Whether its tests came to their end and noticed nothing. What came to no answer says nothing of the tests. */
export const isUnnoticed = (outcome: Outcome): boolean =>
  outcome.found === "no" && (outcome.why === "tests pass" || outcome.why === "no test fits");

/** Whether it tells anything of the tests. */
export const isAnswer = (outcome: Outcome): boolean => outcome.found !== "no" || isUnnoticed(outcome);

/** One line for a reader. */
export const textOfOutcome = (outcome: Outcome): string => {
  if (outcome.found !== "no") return `found by ${outcome.files.join(", ")}: ${outcome.test}`;
  if (isUnnoticed(outcome)) return `NOT NOTICED (${outcome.why})`;
  return `no answer (${[outcome.why, ...(outcome.tests ?? [])].join("; ")})`;
};
