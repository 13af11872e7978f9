import type { SourcePatch } from "../robustness/hook/source-patch.ts";

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

/** A realistic mistake, as a change of one place of the product's source. It passes `npm run check`. */
export type Mutation = SourcePatch & {
  /** In kebab case; unique. */
  name: string;
  kind: (typeof mistakeKinds)[number];
  /** What goes wrong for a caller, an operator of the service, or the cluster; one sentence. */
  breaks: string;
  /** The tests that fit, where what runs tells nothing of it: of a process that takes no changed file, or of a function that all tests run. */
  tests?: readonly string[];
  /** Why it is all right that no test notices it; for those that a full run did not find. */
  mayStay?: string;
};
