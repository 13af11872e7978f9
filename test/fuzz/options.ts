import { parseArgs } from "node:util";
import { freshSeed } from "../robustness/options.ts";
import { orUsageError, UsageError } from "../support/command-line.ts";
import { type TargetName, targetNames } from "./all-targets.ts";

export const usage = `usage: npm run test:fuzz -- [options]

Makes inputs for the places where bytes, texts and objects of others come in: valid ones, ones that are nearly valid, and rubbish. Each
must be taken or refused as the code says, quickly, and with nothing thrown besides.

  --target a,b   these only (default: all):
                 ${targetNames.join(", ")}
  --cases N      of each target (default 100000)
  --seconds N    longest time of each target (default: none)
  --seed N       the same seed makes the same cases (default: drawn by chance, and printed)
  --case N       this case alone, of one target and with its seed: says what its input is
  --short        what every change must pass, about a minute: a second of each target with a fixed seed, and one with a fresh one
  --list         says what each target is, and runs nothing
  --help         this text

Findings are kept in .browserpool/fuzz/findings, the results of the last run in .browserpool/fuzz/results.json.

exit code: 0 nothing was found, 1 something was, 2 a wrong command line
`;

/** One run of some targets. */
export type Round = { targets: TargetName[]; seed: number; cases: number; seconds: number };
export type Options =
  | { do: "help" | "list" }
  | { do: "case"; target: TargetName; seed: number; number: number }
  | { do: "run"; rounds: Round[] };

/** Cases have numbers of 31 bits. */
const mostCases = 2_000_000_000;
const maxSeed = 999_999;

/** The seed that finds again what a change breaks. */
const fixedSeed = 1;
const shortSeconds = 1;

const number = (name: string, text: string, least: number, most: number): number => {
  const value = Number(text);
  if (!/^\d{1,10}$/.test(text) || value < least || value > most)
    throw new UsageError(`--${name} ${text}: give a whole number from ${least} to ${most}`);
  return value;
};

const targetList = (text: string | undefined): TargetName[] =>
  text?.split(",").map((name) => {
    const target = targetNames.find((one) => one === name);
    if (!target) throw new UsageError(`--target ${name}: give one of ${targetNames.join(", ")}`);
    return target;
  }) ?? [...targetNames];

/** Throws a `UsageError`. */
export const readOptions = (argv: string[]): Options => {
  const values = parse(argv);
  if (values.help) return { do: "help" };
  if (values.list) return { do: "list" };
  const targets = targetList(values.target);
  const seed = values.seed === undefined ? freshSeed() : number("seed", values.seed, 0, maxSeed);
  if (values.case !== undefined) {
    const [target, ...others] = targets;
    if (!target || others.length > 0 || values.seed === undefined)
      throw new UsageError("--case needs one --target and the --seed");
    return { do: "case", target, seed, number: number("case", values.case, 0, mostCases) };
  }
  if (values.short) {
    const round = { targets, cases: mostCases, seconds: shortSeconds };
    return { do: "run", rounds: [fixedSeed, seed].map((one) => ({ ...round, seed: one })) };
  }
  const cases = number("cases", values.cases, 1, mostCases);
  const seconds =
    values.seconds === undefined ? Number.POSITIVE_INFINITY : number("seconds", values.seconds, 1, 86_400);
  return { do: "run", rounds: [{ targets, seed, cases, seconds }] };
};

const parse = (argv: string[]) =>
  orUsageError(
    () =>
      parseArgs({
        args: argv,
        options: {
          target: { type: "string" },
          cases: { type: "string", default: "100000" },
          seconds: { type: "string" },
          seed: { type: "string" },
          case: { type: "string" },
          short: { type: "boolean", default: false },
          list: { type: "boolean", default: false },
          help: { type: "boolean", default: false },
        },
      }).values,
  );
