import { parseArgs } from "node:util";
import { orUsageError, UsageError } from "../support/command-line.ts";
import { type Draw, readDraw } from "../support/draw.ts";

export const usage = `usage: npm test -- [options] [PATH…] [options of vitest]

  (no path)            all but the slow tests, whose files are named *.slow.test.ts
  PATH…                the tests whose path contains one of these, of all that there are
  --all                everything that there is: npm run test:all
  --slow-of N --seed S one of N files of the slow tests; the seed, any text, draws them
  --related FILE       the tests that load a file of src, and those of its place below test (test/core/agent for
                       src/core/agent); may be given several times
  --rule RULE          the tests that show a rule of docs/rules.md, such as LEASE-33; may be given several times
  --watch              goes on, and runs again what a change concerns: npm run test:watch
  --help               this text

vitest's own options are passed on, for example --retry=1 or -t NAME: \`npx vitest --help\`.
`;

export type Options =
  | { do: "help" }
  /** `vitest`: what is left of the command line. */
  | ({ do: "run"; isWatched: boolean; vitest: string[] } & Selection);

export type Selection =
  | { what: "quick" | "all" }
  /** Part of a path each. */
  | { what: "paths"; paths: string[] }
  | { what: "slow"; draw: Draw }
  | { what: "related"; files: string[] }
  | { what: "rules"; rules: string[] };

const ownOptions = {
  all: { type: "boolean" },
  "slow-of": { type: "string" },
  seed: { type: "string" },
  related: { type: "string", multiple: true },
  rule: { type: "string", multiple: true },
  watch: { type: "boolean" },
  help: { type: "boolean" },
} as const;

type Values = {
  [Name in keyof typeof ownOptions]?: (typeof ownOptions)[Name]["type"] extends "boolean"
    ? boolean
    : Name extends "related" | "rule"
      ? string[]
      : string;
};

/**
 * Tells our own options, paths and vitest's options apart. An option of vitest has its value behind `=`, or is `-t
 * NAME`.
 */
const split = (argv: string[]): { values: Values; paths: string[]; vitest: string[] } => {
  const paths: string[] = [];
  const vitest: string[] = [];
  const own: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    const name = word.replace(/^--/, "").split("=")[0] ?? "";
    const known = word.startsWith("--") ? ownOptions[name as keyof typeof ownOptions] : undefined;
    const takesNext = word === "-t" || (known?.type === "string" && !word.includes("="));
    const words = argv.slice(at, at + (takesNext ? 2 : 1));
    at += words.length - 1;
    if (known) own.push(...words);
    else if (word.startsWith("-")) vitest.push(...words);
    else paths.push(word);
  }
  const { values } = orUsageError(() => parseArgs({ args: own, options: ownOptions, strict: true }));
  return { values, paths, vitest };
};

const selectionOf = (values: Values, paths: string[]): Selection => {
  const draw = readDraw(["--slow-of", values["slow-of"]], ["--seed", values.seed]);
  const asked: Selection[] = [
    ...(values.all ? [{ what: "all" as const }] : []),
    ...(draw ? [{ what: "slow" as const, draw }] : []),
    ...(values.related ? [{ what: "related" as const, files: values.related }] : []),
    ...(values.rule ? [{ what: "rules" as const, rules: values.rule }] : []),
    ...(paths.length > 0 ? [{ what: "paths" as const, paths }] : []),
  ];
  if (asked.length > 1) throw new UsageError("give one of --all, --slow-of, --related, --rule and paths");
  return asked[0] ?? { what: "quick" };
};

/** Throws a `UsageError`. */
export const readOptions = (argv: string[]): Options => {
  const { values, paths, vitest } = split(argv);
  if (values.help) return { do: "help" };
  return { do: "run", isWatched: values.watch ?? false, vitest, ...selectionOf(values, paths) };
};
