import { parseArgs } from "node:util";
import { freshSeed } from "../robustness/options.ts";
import { orUsageError, UsageError } from "../support/command-line.ts";
import { type Area, areaNames } from "./all-mutations.ts";

export const usage = `usage: npm run test:mutations -- [options]

Makes realistic mistakes in copies of the product, one at a time, and runs the tests that fit each: those that run the function in
which it is. A mistake that no test notices is a finding.

  --area a,b      mistakes of these areas only: ${areaNames.join(", ")}
  --only a,b      these mistakes only, by name
  --left          those alone that have no answer yet
  --sample N      N of them, drawn by chance from those that were found when they were tried last
  --seed N        seed of the draw (default: drawn by chance, and printed)
  --at-once N     mistakes tried at the same time (default 2)
  --list          names the mistakes, and runs nothing
  --find-tests    runs all tests once, to find those that fit each mistake, and writes fitting-tests.json. Takes as long as npm test
  --of a,b        with --find-tests: runs these test files only; of the others what was measured on this machine before holds
  --fit           writes fitting-tests.json by what --find-tests measured on this machine before; the test that found a mistake
                  comes first
  --help          this text

Results are kept in test/mutations/generated/results.json, those of a sample are not. When all mistakes have one, docs/mutations.md gets
its tables.

exit code: 0 all were found, may stay, or came to no answer (time, unsteady tests); 1 the tests of one pass with it, or none came to
an answer, 2 a wrong command line
`;

export type Selection = { area: Area[]; only: string[]; left: boolean; sample: number | undefined; seed: number };
export type Options =
  | { do: "help" | "list" | "fit" }
  | { do: "find-tests"; of: string[] }
  | ({ do: "try"; atOnce: number } & Selection);

const mostAtOnce = 16;

const number = (name: string, text: string, max: number): number => {
  const value = Number(text);
  if (!/^[1-9]\d*$/.test(text) || value > max)
    throw new UsageError(`--${name} ${text}: give a whole number from 1 to ${max}`);
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
  if (values.list) return { do: "list" };
  if (values.of !== undefined && !values["find-tests"]) throw new UsageError("--of is for --find-tests");
  if (values["find-tests"]) return { do: "find-tests", of: values.of?.split(",") ?? [] };
  if (values.fit) return { do: "fit" };
  return {
    do: "try",
    area: areaList(values.area),
    only: values.only?.split(",") ?? [],
    left: values.left,
    sample: values.sample === undefined ? undefined : number("sample", values.sample, 10_000),
    seed: values.seed === undefined ? freshSeed() : number("seed", values.seed, 999_999),
    atOnce: number("at-once", values["at-once"], mostAtOnce),
  };
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
          seed: { type: "string" },
          "at-once": { type: "string", default: "2" },
          list: { type: "boolean", default: false },
          "find-tests": { type: "boolean", default: false },
          of: { type: "string" },
          fit: { type: "boolean", default: false },
          help: { type: "boolean", default: false },
        },
      }).values,
  );
