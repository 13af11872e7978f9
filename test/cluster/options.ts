import { parseArgs } from "node:util";
import { ownPlatform } from "../../scripts/image/image-builder.ts";
import { orUsageError, UsageError } from "../support/command-line.ts";
import { type Draw, readDraw } from "../support/draw.ts";

export const usage = `usage: npm run test:cluster -- [options]

Brings up a Kubernetes cluster of three nodes, builds the images, installs the chart with Helm, tries it, and cleans up.

  --only a,b    these phases of the suite alone (default: all)
  --keep        leaves the cluster and the release as they are at the end, for a look and for the next run
  --script-seconds N  how long scripts run at least while something is changed (default: as long as the change takes)
  --platforms LIST    of the images that the phase release makes, e.g. linux/amd64,linux/arm64 (default: this machine's)
  --kubernetes V  the version of a cluster that this run makes, e.g. 1.30.14 (default: that of kind, or of the program)
  --tag TAG     images that are there already, for example from another run with --keep: builds none
  --second-try-within N  does once more, if that begins before N s are over: bringing up the cluster, when that fails;
                         phases in which nothing failed but that a time was over
  --one-of N --seed S    one of N of the slow phases and of the end-to-end files alone; the seed, any text, draws them
  --if-possible says so and succeeds where the machine gives no cluster
  --help        this text

Environment:
  KUBECONFIG            a cluster that is there already. kind clusters get the images loaded; for others see below
  BROWSERPOOL_REGISTRY  where images are pushed to for a cluster that is not kind's, e.g. registry.example.com/team
  BROWSERPOOL_KIND_UP   program that brings up a kind cluster where no image registry can be reached
                        (--name NAME --config FILE) and prints its environment as lines of export

Without KUBECONFIG the cluster is kind's own, if Docker reaches an image registry, and that program's otherwise.
`;

export type Options = {
  help: boolean;
  only: string[] | undefined;
  keep: boolean;
  tag: string | undefined;
  /** Of Kubernetes; left out, any. */
  kubernetes: string | undefined;
  /** Shortest time that the scripts of users run under a change. */
  scriptSeconds: number;
  /** Of the images of releases. */
  platforms: string[];
  ifPossible: boolean;
  /** Of slow phases and end-to-end files; left out, all. */
  draw: Draw | undefined;
  /** From the start of the run, s; without it nothing is tried twice. */
  secondTryWithin: number | undefined;
};

const secondsOf = <Name extends string>(given: Partial<Record<Name, string>>, name: Name): number | undefined => {
  const text = given[name];
  if (text !== undefined && !/^\d+$/.test(text))
    throw new UsageError(`--${name} ${text}: give a whole number of seconds`);
  return text === undefined ? undefined : Number(text);
};

/** `names`: of all phases of the suite. Throws a `UsageError`. */
export const readOptions = (argv: string[], names: readonly string[]): Options => {
  const { help, only, keep, tag, kubernetes, "if-possible": ifPossible, ...rest } = parse(argv);
  if (kubernetes !== undefined && !/^\d+\.\d+\.\d+$/.test(kubernetes))
    throw new UsageError(`--kubernetes ${kubernetes}: give a whole version, such as 1.30.14`);
  const secondTryWithin = secondsOf(rest, "second-try-within");
  const scriptSeconds = secondsOf(rest, "script-seconds") ?? 0;
  const wanted = only?.split(",");
  const unknown = wanted?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--only: there is no phase ${unknown}; there are ${names.join(", ")}`);
  const draw = readDraw(["--one-of", rest["one-of"]], ["--seed", rest.seed]);
  const platforms = rest.platforms.split(",");
  return { help, only: wanted, keep, tag, kubernetes, scriptSeconds, platforms, ifPossible, draw, secondTryWithin };
};

const parse = (argv: string[]) =>
  orUsageError(
    () =>
      parseArgs({
        args: argv,
        options: {
          only: { type: "string" },
          keep: { type: "boolean", default: false },
          tag: { type: "string" },
          kubernetes: { type: "string" },
          "second-try-within": { type: "string" },
          "script-seconds": { type: "string" },
          platforms: { type: "string", default: ownPlatform },
          "one-of": { type: "string" },
          seed: { type: "string" },
          "if-possible": { type: "boolean", default: false },
          help: { type: "boolean", default: false },
        },
      }).values,
  );
