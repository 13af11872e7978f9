import { parseArgs } from "node:util";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { orUsageError, UsageError } from "../support/command-line.ts";
import { allFaults, type FaultName, faultNames, faultsWith } from "./faults/all-faults.ts";
import type { Fault } from "./faults/fault.ts";
import { type RedisKind, redisKinds } from "./topology/redis-host.ts";

export const usage = `usage: npm run test:robustness -- [options]

Runs the service under seeded faults, records what every part did, and checks the histories.

  --short         the tier that every change must pass: fixed seeds and two fresh ones, every kind of fault, some minutes
  --seed N        seed of the first history; the next ones count up (default: drawn by chance, and printed)
  --histories N   how many (default 10)
  --seconds N     length of the load of each, s (default 20)
  --faults a,b    kinds of faults to choose from (default: all); "none" for a load without any
  --redis KIND    single, sentinel (with TLS) or cluster (default: single); of the faults, those that can be caused there
  --beside N      so many simulated browsers are idle in pools of another project meanwhile, and must be known at the end
  --chromium      real browsers instead of simulated ones, and small pools
  --replay FILE   checks a history that was kept
  --second-try-within N
                  as the unattended run does: a violation of a safety check ends the run at once; a history in which only
                  timing checks found something runs once more from its seed, if that begins before N s are over
  --bug NAME      puts a seeded bug into the product, and runs as usual
  --bugs          seeds known bugs into the product one by one and shows which check finds each
  --only a,b      with --bugs: only these
  --help          this text

exit code: 0 passed, 1 a check found something, 2 a wrong command line, 3 a safety check found something,
4 a part of the run itself failed

kinds of faults:
${wrapped(faultNames)}
`;

function wrapped(words: readonly string[]): string {
  const lines = [""];
  for (const word of words) {
    if ((lines.at(-1) ?? "").length + word.length > 100) lines.push("");
    lines[lines.length - 1] += ` ${word}`;
  }
  return lines.map((line) => ` ${line}`).join("\n");
}

export type Options =
  | { do: "help" }
  | { do: "replay"; file: string }
  | { do: "bugs"; only: string[] }
  | ({ do: "short" } & RunOptions)
  | ({ do: "run"; seed: number; histories: number; loadMs: number; faults: FaultName[] } & RunOptions);

export type RunOptions = {
  chromium: boolean;
  /** Left out, a single server. */
  redis?: RedisKind;
  /** Simulated browsers of another project; left out, none. */
  beside?: number;
  /** Name of a seeded bug. */
  bug?: string;
  /** From the start of the run, s; without it nothing is tried twice. */
  secondTryWithin?: number;
};

/** Largest seed; a drawn one is short enough to be typed. */
const maxSeed = 999_999;

const number = (name: string, text: string, max: number): number => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max) throw new UsageError(`--${name} ${text}: give a whole number up to ${max}`);
  return value;
};

const redisKind = (text: string): RedisKind => {
  const kind = redisKinds.find((one) => one === text);
  if (!kind) throw new UsageError(`--redis ${text}: give ${redisKinds.join(", ")}`);
  return kind;
};

const faultList = (text: string, redis: RedisKind = "single"): FaultName[] => {
  if (text === "none") return [];
  return text.split(",").map((name) => {
    if (!Object.hasOwn(allFaults, name)) throw new UsageError(`--faults: there is no fault ${name}`);
    if (!faultsWith(redis).includes(name as FaultName)) {
      const { redis: kinds = [] } = allFaults[name as FaultName] as Fault;
      throw new UsageError(`--faults: ${name} needs --redis ${kinds.join(" or ")}`);
    }
    return name as FaultName;
  });
};

/** Draws a seed by chance. */
export const freshSeed = (): number => 1 + Math.floor(Math.random() * maxSeed);

/** Of those that are done to agents, what can be done to real ones from outside. */
const realAgentFaults: readonly FaultName[] = ["chromium-crash", "node-cordon", "pod-drain"];

/** Those that can be caused on this machine; `chromium`: with real browsers; `redis`: with this kind of Redis. */
export const possibleFaults = ({
  chromium = false,
  redis = "single",
}: Partial<Pick<RunOptions, "chromium" | "redis">> = {}): FaultName[] =>
  faultsWith(redis).filter((name) => {
    const { parts, unavailable } = allFaults[name] as Fault;
    const isForReal = !parts.includes("agents") || realAgentFaults.includes(name);
    return unavailable?.() === undefined && (isForReal || !chromium);
  });

/** One line about each thing that a program is missing for on this machine. */
export const leftOut = (): string[] => {
  const missing = faultNames.flatMap((name) => {
    const why = (allFaults[name] as Fault).unavailable?.();
    return why === undefined ? [] : [`left out: ${name} (${why})`];
  });
  const isJudged = locatePrograms(process.env).linearizability !== undefined;
  return isJudged ? missing : [...missing, "left out: linearizable (its program, built by Go, is missing)"];
};

/** Throws a `UsageError`. */
export const readOptions = (argv: string[]): Options => {
  const { values } = parse(argv);
  if (values.help) return { do: "help" };
  if (values.replay !== undefined) return { do: "replay", file: values.replay };
  if (values.bugs) return { do: "bugs", only: values.only?.split(",") ?? [] };
  if (values.only !== undefined) throw new UsageError("--only names seeded bugs: give --bugs, too");
  const { chromium, bug, beside, "second-try-within": within } = values;
  const redis = values.redis === undefined ? undefined : redisKind(values.redis);
  const run: RunOptions = {
    chromium,
    ...(redis !== undefined && { redis }),
    ...(beside !== undefined && { beside: number("beside", beside, 5000) }),
    ...(bug !== undefined && { bug }),
    ...(within !== undefined && { secondTryWithin: number("second-try-within", within, 86_400) }),
  };
  if (values.short) return { do: "short", ...run, chromium: false };
  return {
    do: "run",
    ...run,
    seed: values.seed === undefined ? freshSeed() : number("seed", values.seed, maxSeed * 2),
    histories: number("histories", values.histories, 10_000),
    loadMs: number("seconds", values.seconds, 3600) * 1000,
    faults: values.faults === undefined ? possibleFaults(run) : faultList(values.faults, redis),
  };
};

const parse = (argv: string[]) =>
  orUsageError(() =>
    parseArgs({
      args: argv,
      options: {
        short: { type: "boolean", default: false },
        seed: { type: "string" },
        histories: { type: "string", default: "10" },
        seconds: { type: "string", default: "20" },
        faults: { type: "string" },
        redis: { type: "string" },
        beside: { type: "string" },
        chromium: { type: "boolean", default: false },
        replay: { type: "string" },
        bug: { type: "string" },
        "second-try-within": { type: "string" },
        bugs: { type: "boolean", default: false },
        only: { type: "string" },
        help: { type: "boolean", default: false },
      },
    }),
  );
