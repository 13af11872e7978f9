import { parseArgs } from "node:util";
import { orUsageError, UsageError } from "../support/command-line.ts";

export const usage = `usage: npm run test:openapi -- [options]

Sends requests that Schemathesis makes from docs/openapi.json to local mode, and compares the answers with the document.

  --seed N       this seed alone, to repeat a run (default: one that is always the same, and then a new one)
  --seconds N    time of each seed's requests (default: 35)
  --if-possible  says so and succeeds where Schemathesis is not installed
  --help         this text

Exit code: 0, all answers were in order; 1, some were not; 3, a new seed was refused by a rule that neither the document nor the list in
test/openapi/checks.py has: write it into one of them.
`;

export type Options = { help: boolean; seed: number | undefined; seconds: number; ifPossible: boolean };

const whole = (name: string, text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} takes a whole number, not ${text}`);
  return Number(text);
};

/** Throws a UsageError. */
export const parseOptions = (args: readonly string[]): Options => {
  const known = {
    help: { type: "boolean", default: false },
    seed: { type: "string" },
    seconds: { type: "string", default: "35" },
    "if-possible": { type: "boolean", default: false },
  } as const;
  return orUsageError(() => {
    const { values } = parseArgs({ args: [...args], options: known });
    const { help, seed, seconds, "if-possible": ifPossible } = values;
    return {
      help,
      seed: seed === undefined ? undefined : whole("seed", seed),
      seconds: Math.max(1, whole("seconds", seconds)),
      ifPossible,
    };
  });
};
