/** `npm run test:openapi`: whether the API does what its document says. `--help` lists the options. */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { locateSchemathesis } from "../../scripts/setup/schemathesis.mjs";
import { startLocalStack } from "../support/local-stack.ts";
import { type Options, parseOptions, UsageError, usage } from "./options.ts";

const root = join(import.meta.dirname, "../..");

/** The seed that finds again what a change breaks. */
const fixedSeed = 1;

/** Operations by which the run would take away its own key. */
const excluded = ["deleteApiKey", "rotateApiKey", "updateApiKey"];

/** One caller sends all that it can here, wrong keys among it: the bounds of callers (LIMIT-13, LIMIT-19) are shown elsewhere. */
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

/** Runs one seed on a service of its own. Returns whether all answers were in order. */
const runSeed = async (program: string, seed: number, { seconds }: Options, signal: AbortSignal): Promise<boolean> => {
  console.log(`\nseed ${seed}: once more by npm run test:openapi -- --seed ${seed}`);
  await using parts = new AsyncDisposableStack();
  // Schemathesis keeps what it found in its working folder.
  const cwd = await mkdtemp(join(tmpdir(), "bp-openapi-"));
  parts.defer(() => rm(cwd, { recursive: true, force: true }));
  const stack = parts.use(await startLocalStack({ env: withoutBounds }));
  signal.throwIfAborted();
  const env = {
    ...process.env,
    BROWSERPOOL_API_KEY: stack.api_key,
    SCHEMATHESIS_HOOKS: join(import.meta.dirname, "checks.py"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const child = spawn(program, args(stack.url, seed, seconds), { cwd, env, stdio: "inherit", signal });
  const [code] = await once(child, "close");
  return code === 0;
};

const run = async (options: Options): Promise<boolean> => {
  const program = locateSchemathesis(root, process.env);
  if (!program) {
    const way = "the set-up says above why; it needs Python 3.10 or newer with venv, and PyPI";
    console.log(`${options.ifPossible ? "skipped" : "failed"}: Schemathesis is not installed (${way})`);
    return options.ifPossible;
  }
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
  const seeds = options.seed === undefined ? [fixedSeed, randomInt(1_000_000)] : [options.seed];
  const bad: number[] = [];
  for (const seed of seeds) if (!(await runSeed(program, seed, options, stop.signal))) bad.push(seed);
  console.log(bad.length === 0 ? "openapi: all well" : `openapi: answers were not in order; seeds ${bad.join(", ")}`);
  return bad.length === 0;
};

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) console.log(usage);
  else if (!(await run(options))) process.exitCode = 1;
} catch (error) {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${usage}`);
  else console.error(error);
  process.exitCode = 1;
}
