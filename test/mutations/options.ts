import { parseArgs } from "node:util";
import { freshSeed } from "../robustness/options.ts";
import { orUsageError, UsageError } from "../support/command-line.ts";
import { type Area, areaNames } from "./areas.ts";

const defaultBudgetSeconds = 60;

export const usage = `usage: npm run test:mutations -- [options]

Makes realistic mistakes in copies of the product, one at a time, and runs the tests that fit each: unit tests first, then those that run the
function in which it is. A mistake that no test notices is a finding.

Mistakes that were written by hand, each of which a test notices (the default):
  --area a,b      those of these areas only: ${areaNames.join(", ")}
  --only a,b      these only, by name
  --left          those alone that have no answer yet
  --sample N      N of them, drawn by chance
  --list          names them, and runs nothing

Fresh mistakes, which measure the tests:
  --fresh N       N of them, drawn from all product code; says which share the tests notice. The same command on the same tree goes on
                  where it was ended
  --area a,b      in files of these areas only
  --list          shows them, and runs no test
  --against FILE  tries the mistakes of an earlier run again, as far as the tests that noticed them have gone or changed, and those
                  that were not noticed; says the rates of both

  --seed N        seed of a draw (default: drawn by chance, and printed)
  --budget S      seconds for the tests of one mistake that are no unit tests; 0: unit tests alone (default ${defaultBudgetSeconds})
  --at-once N     mistakes tried at the same time (default 2)
  --find-tests    runs the test files that are new or changed, or that run much code that has changed, to find out what each runs.
                  The first time that takes as long as all tests. The same command goes on where it was ended
  --of a,b        with --find-tests: these test files, whether they have changed or not
  --help          this text

Results are kept in .browserpool/mutations.

exit code: 0 all were noticed, may stay, or came to no answer (time, unsteady tests), and fresh ones came to an end; 1 a mistake is not noticed
that was, none came to an answer, or the run was ended; 2 a wrong command line
`;

type Common = { area: Area[]; seed: number; budgetSeconds: number; atOnce: number };

export type KeptOptions = { only: string[]; left: boolean; sample: number | undefined } & Common;
export type FreshOptions = { count: number; list: boolean } & Common;
/** `budgetSeconds`: undefined for that of the earlier run. */
export type AgainstOptions = { against: string; budgetSeconds: number | undefined; atOnce: number };

export type Options =
  | { do: "help" | "list" }
  | { do: "find-tests"; of: string[] }
  | ({ do: "kept" } & KeptOptions)
  | ({ do: "fresh" } & FreshOptions)
  | ({ do: "against" } & AgainstOptions);

const mostAtOnce = 16;

const number = (name: string, text: string, { min = 1, max }: { min?: number; max: number }): number => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new UsageError(`--${name} ${text}: give a whole number from ${min} to ${max}`);
  return value;
};

const areaList = (text: string | undefined): Area[] =>
  (text?.split(",") ?? []).map((name) => {
    const area = areaNames.find((one) => one === name);
    if (!area) throw new UsageError(`--area ${name}: give one of ${areaNames.join(", ")}`);
    return area;
  });

/** Throws a `UsageError`. */
export const readOptions = (argv: string[]): Options => {
  const values = parse(argv);
  if (values.help) return { do: "help" };
  if (values.of !== undefined && !values["find-tests"]) throw new UsageError("--of is for --find-tests");
  if (values["find-tests"]) return { do: "find-tests", of: values.of?.split(",") ?? [] };
  const budget = values.budget === undefined ? undefined : number("budget", values.budget, { min: 0, max: 3600 });
  const atOnce = number("at-once", values["at-once"], { max: mostAtOnce });
  if (values.against !== undefined) return { do: "against", against: values.against, budgetSeconds: budget, atOnce };
  const common = {
    area: areaList(values.area),
    seed: values.seed === undefined ? freshSeed() : number("seed", values.seed, { max: 999_999 }),
    budgetSeconds: budget ?? defaultBudgetSeconds,
    atOnce,
  };
  if (values.fresh !== undefined)
    return { do: "fresh", count: number("fresh", values.fresh, { max: 10_000 }), list: values.list, ...common };
  if (values.list) return { do: "list" };
  const sample = values.sample === undefined ? undefined : number("sample", values.sample, { max: 10_000 });
  return { do: "kept", only: values.only?.split(",") ?? [], left: values.left, sample, ...common };
};

const parse = (argv: string[]) =>
  orUsageError(
    () =>
      parseArgs({
        args: argv,
        options: {
          area: { type: "string" },
          only: { type: "string" },
          left: { type: "boolean", default: false },
          sample: { type: "string" },
          fresh: { type: "string" },
          against: { type: "string" },
          seed: { type: "string" },
          budget: { type: "string" },
          "at-once": { type: "string", default: "2" },
          list: { type: "boolean", default: false },
          "find-tests": { type: "boolean", default: false },
          of: { type: "string" },
          help: { type: "boolean", default: false },
        },
      }).values,
  );
