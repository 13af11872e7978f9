/** `npm run test:openapi`: whether the API does what its document says. `--help` lists the options. */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { locatePython } from "../../scripts/setup/python-environments.mjs";
import { processRoutes } from "../../src/features/processes/routes.ts";
import { UsageError } from "../support/command-line.ts";
import { startLocalStack } from "../support/local-stack.ts";
import { type Options, parseOptions, usage } from "./options.ts";

const root = join(import.meta.dirname, "../..");

/** The seed that finds again what a change breaks. */
const fixedSeed = 1;

/** Operations that run programs, which the key of a run may not, and any text can be one. */
const ofProcesses = processRoutes.map(({ operationId }) => operationId);

/** And those by which the run would take away its own key, and one whose answer has no end. */
const excluded = ["deleteApiKey", "rotateApiKey", "updateApiKey", "streamEvents", ...ofProcesses];

/**
 * One caller sends all that it can here, wrong keys among it: the bounds of callers (LIMIT-13, LIMIT-19) are shown
 * elsewhere.
 */
const unbounded = "1000000000";
const withoutBounds = {
  BROWSERPOOL_FAILED_ATTEMPTS_PER_MINUTE: unbounded,
  BROWSERPOOL_KEY_REQUESTS_PER_SECOND: unbounded,
  BROWSERPOOL_PROJECT_REQUESTS_PER_SECOND: unbounded,
};

const args = (url: string, seed: number, seconds: number): string[] => [
  ...["--config-file", join(import.meta.dirname, "schemathesis.toml")],
  ...["run", `${url}/openapi.json`, "--no-color", "--warnings", "off"],
  ...["--seed", `${seed}`, "--max-time", `${seconds}`],
  ...["--phases", "examples,coverage,fuzzing", "--continue-on-failure"],
  ...excluded.flatMap((operation) => ["--exclude-operation-id", operation]),
];

/** `new rules`: all that was found are refusals that the list of checks.py does not explain. */
type Outcome = "in order" | "new rules" | "not in order";

/** `.ci/run` tells them apart. */
const exitCodes: Record<Outcome, number> = { "in order": 0, "not in order": 1, "new rules": 3 };

/** Most lines of the service's log that are shown. */
const shownLines = 40;

/** Prints what the service has warned of: a refusal that says only "does not answer now" has its reason there. */
const showWarnings = async (dataDir: string): Promise<void> => {
  const log = await readFile(join(dataDir, "logs/browserpool.log"), "utf8").catch(() => "");
  const isWarning = (line: string): boolean => /^\{"level":"(warn|error|fatal)"/.test(line);
  console.log(`the last warnings of the service:\n${log.split("\n").filter(isWarning).slice(-shownLines).join("\n")}`);
};

/**
 * Runs one seed on a service of its own. A new seed finds now and then a rule of the service that neither the document
 * nor the list has: no fault of the change that it is tried on, so it is told apart.
 */
const runSeed = async (program: string, seed: number, { seconds }: Options, signal: AbortSignal): Promise<Outcome> => {
  console.log(`\nseed ${seed}: once more by npm run test:openapi -- --seed ${seed}`);
  await using parts = new AsyncDisposableStack();
  // Schemathesis keeps what it found in its working folder.
  const cwd = await mkdtemp(join(tmpdir(), "bp-openapi-"));
  parts.defer(() => rm(cwd, { recursive: true, force: true }));
  const newRules = join(cwd, "new-rules");
  const stack = parts.use(await startLocalStack({ env: withoutBounds }));
  signal.throwIfAborted();
  const env = {
    ...process.env,
    BROWSERPOOL_API_KEY: stack.api_key,
    SCHEMATHESIS_HOOKS: join(import.meta.dirname, "checks.py"),
    PYTHONDONTWRITEBYTECODE: "1",
    ...(seed !== fixedSeed && { NEW_RULES_FILE: newRules }),
  };
  const child = spawn(program, args(stack.url, seed, seconds), { cwd, env, stdio: "inherit", signal });
  const [code] = await once(child, "close");
  if (code !== 0) {
    await showWarnings(stack.dataDir);
    return "not in order";
  }
  const found = await readFile(newRules, "utf8").catch(() => "");
  if (found === "") return "in order";
  console.log(`openapi: seed ${seed} was refused by rules that neither the document nor the list has:\n${found}`);
  return "new rules";
};

const run = async (options: Options): Promise<number> => {
  const program = locatePython("schemathesis", root, process.env);
  if (!program) {
    const way = "the set-up says above why; it needs Python 3.10 or newer with venv, and PyPI";
    console.log(`${options.ifPossible ? "skipped" : "failed"}: Schemathesis is not installed (${way})`);
    return options.ifPossible ? 0 : exitCodes["not in order"];
  }
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
  const seeds = options.seed === undefined ? [fixedSeed, randomInt(1_000_000)] : [options.seed];
  const outcomes: Outcome[] = [];
  for (const seed of seeds) {
    const outcome = await runSeed(program, seed, options, stop.signal);
    console.log(`openapi: seed ${seed}: ${outcome}`);
    outcomes.push(outcome);
  }
  const worst = (["not in order", "new rules"] as const).find((outcome) => outcomes.includes(outcome));
  return exitCodes[worst ?? "in order"];
};

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) console.log(usage);
  else process.exitCode = await run(options);
} catch (error) {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${usage}`);
  else console.error(error);
  process.exitCode = 1;
}
