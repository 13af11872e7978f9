#!/usr/bin/env node
/**
 * Brings a bare machine to where `npm start` and `npm test` work. Needs Node 20 and nothing else; says nothing and is done at
 * once when all is there. See `usage` for what it installs and where.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  cacheDir,
  cachedProgramPath,
  chartPrograms,
  clusterPrograms,
  controlPlanePrograms,
  isProgram,
  locatePrograms,
  testPrograms,
} from "../src/local/locate-programs.mjs";
import { installDebianPackages } from "./setup/debian-packages.mjs";
import { takeLock } from "./setup/lock.mjs";
import { installPackages, nodeIsInstalled, packagesAreInstalled } from "./setup/packages.mjs";
import { installPrograms } from "./setup/programs.mjs";
import { createProgress } from "./setup/progress.mjs";
import { createToolRunner } from "./setup/run-tool.mjs";
import { SetupError } from "./setup/setup-error.mjs";

const usage = `usage: node scripts/setup.mjs [--packages-only | --check | --robustness | --cluster]

Installs what is missing, and nothing else:
  in node_modules, by npm ci      npm packages, Node 24 among them
  by apt-get, as root             redis-server, chromium, chromium-headless-shell, Xvfb
  in the cache                    etcd, kube-apiserver, kubectl: downloaded, else built from Go modules

  --packages-only   npm packages only
  --check           these and what looks at the chart: helm, helm-unittest, kubeconform, downloaded or built like the others. What
                    can't be had is named, and the check leaves out what needs it
  --robustness      also what the robustness tests use: faketime by apt-get; toxiproxy, linearizability built from Go. What
                    can't be had is named, and the tests leave out what needs it
  --cluster         npm packages, and what the cluster tests use beside Docker: kubectl, helm, kind
  --help            this text

Environment:
  KUBEBUILDER_ASSETS            folder with etcd, kube-apiserver and kubectl, used as it is
  BROWSERPOOL_CACHE_DIR         the cache (default: browserpool in the user's cache folder)
  BROWSERPOOL_DOWNLOAD_MIRROR   URL that stands for the official places of downloads; "off": build always
  BROWSERPOOL_REDIS_SERVER, BROWSERPOOL_CHROMIUM, BROWSERPOOL_CHROMIUM_HEADLESS   programs to use instead of those on PATH
`;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const env = process.env;

/** Oldest Node that runs this set-up; it brings the newer one that the product needs. */
const oldestNodeMajor = 20;

const systemPrograms = /** @type {const} */ (["redis-server", "chromium", "chromium-headless-shell", "Xvfb"]);

const robustnessPrograms = /** @type {const} */ (["faketime"]);

/**
 * How much is installed: npm packages only, these and the programs of the check or of the cluster tests, what the product and its
 * tests need, that and the robustness tests' programs.
 */
/** @typedef {"packages" | "check" | "cluster" | "all" | "robustness"} Scope */

/** What is missing now, in the order in which it is installed. @param {Scope} scope */
const findMissing = (scope) => {
  const npmPackages = !packagesAreInstalled(root) || !nodeIsInstalled(root);
  const chart = scope === "check" ? chartPrograms.filter((name) => !isProgram(cachedProgramPath(name, env))) : [];
  const programs = locatePrograms(env);
  const cluster = scope === "cluster" ? clusterPrograms.filter((name) => !programs[name]) : [];
  if (scope === "packages" || scope === "check" || scope === "cluster")
    return { npmPackages, chart, cluster, system: [], controlPlane: [], clock: [], tests: [] };
  const complete = controlPlanePrograms.every((name) => programs[name]);
  const isTested = scope === "robustness";
  return {
    npmPackages,
    chart,
    cluster,
    system: systemPrograms.filter((name) => !programs[name]),
    // one version for all three: a kubectl of another origin stands in only as long as nothing else has to be made
    controlPlane: complete ? [] : controlPlanePrograms.filter((name) => !isProgram(cachedProgramPath(name, env))),
    clock: isTested ? robustnessPrograms.filter((name) => !programs[name]) : [],
    tests: isTested ? testPrograms.filter((name) => !programs[name]) : [],
  };
};

/** @typedef {ReturnType<typeof findMissing>} Missing */

/** Without these nothing works. @param {Missing} missing */
const neededOf = ({ system, controlPlane, cluster }) => [...system, ...controlPlane, ...cluster];

/** @param {Missing} missing */
const isNothing = (missing) =>
  !missing.npmPackages && [...neededOf(missing), ...missing.chart, ...missing.clock, ...missing.tests].length === 0;

/**
 * Installs what the check and the robustness tests can do without; says in a line when it can't be had.
 * @param {readonly string[]} names
 * @param {() => Promise<unknown>} work
 * @param {{ progress: import("./setup/progress.mjs").Progress, signal: AbortSignal }} deps
 */
const tryToInstall = async (names, work, { progress, signal }) => {
  if (names.length === 0) return;
  try {
    await work();
  } catch (error) {
    if (signal.aborted || !(error instanceof SetupError)) throw error;
    progress.say(`going on without ${names.join(", ")}: ${error.message}`);
  }
};

/**
 * Installs what is missing, one set-up of this machine at a time.
 * @param {Scope} scope
 * @param {AbortSignal} signal
 * @param {string} logFile
 */
const install = async (scope, signal, logFile) => {
  const progress = createProgress(process.stderr);
  const unlock = await takeLock(join(cacheDir(env), "setup.lock"), {
    signal,
    onWait: (pid) => progress.say(`another set-up (process ${pid}) is at work; waiting for it`),
  });
  try {
    const missing = findMissing(scope); // again: the other one may have done it all
    writeFileSync(logFile, "", { mode: 0o600 });
    const deps = { root, env, run: createToolRunner({ logFile, signal }), progress, signal };
    if (missing.npmPackages) await installPackages(deps);
    if (missing.system.length > 0) await installDebianPackages(missing.system, deps);
    if (missing.controlPlane.length > 0) await installPrograms(missing.controlPlane, deps);
    if (missing.cluster.length > 0) await installPrograms(missing.cluster, deps);
    await tryToInstall(missing.chart, () => installPrograms(missing.chart, deps), deps);
    await tryToInstall(missing.clock, () => installDebianPackages(missing.clock, deps), deps);
    await tryToInstall(missing.tests, () => installPrograms(missing.tests, deps), deps);
    const left = neededOf(findMissing(scope));
    if (left.length > 0)
      throw new SetupError(`${left.join(", ")} missing, although installed just now`, {
        wayOut: `See the log ${logFile}; the programs must be in a folder of PATH.`,
      });
  } finally {
    unlock();
  }
};

/** @param {unknown} error @param {string} logFile */
const explain = (error, logFile) => {
  if (!(error instanceof SetupError)) return `setup: failed: ${error instanceof Error ? error.stack : error}\n`;
  const shown =
    error.logTail.length > 0 ? [...error.logTail.map((line) => `  | ${line}`), `setup: whole log: ${logFile}`] : [];
  return [
    `setup: failed: ${error.message}`,
    ...shown,
    ...error.wayOut.split("\n").map((line) => `setup: ${line}`),
    "",
  ].join("\n");
};

/** Exit codes of a process that a signal ended, as shells have them. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** @param {Scope} scope @returns {Promise<number>} the exit code */
const setUp = async (scope) => {
  if (isNothing(findMissing(scope))) return 0;
  const logFile = join(cacheDir(env), "setup.log");
  const stop = new AbortController();
  let code = 1;
  for (const [name, exitCode] of Object.entries(exitCodes))
    process.on(name, () => {
      code = exitCode;
      stop.abort(new Error(`stopped by ${name}`));
    });
  try {
    await install(scope, stop.signal, logFile);
    return 0;
  } catch (error) {
    process.stderr.write(
      stop.signal.aborted ? "setup: stopped; the next run goes on from here\n" : explain(error, logFile),
    );
    return code;
  }
};

/** @type {{ [argument: string]: Scope }} */
const scopes = {
  "--packages-only": "packages",
  "--check": "check",
  "--robustness": "robustness",
  "--cluster": "cluster",
};

/** @param {readonly string[]} args @returns {Promise<number>} the exit code */
const main = async (args) => {
  const unknown = args.find((arg, place) => arg !== "--help" && (!scopes[arg] || place > 0));
  const tooOld = Number.parseInt(process.versions.node, 10) < oldestNodeMajor;
  if (unknown) process.stderr.write(`setup: unknown argument ${unknown}\n${usage}`);
  else if (args.includes("--help")) process.stdout.write(usage);
  else if (tooOld) process.stderr.write(`setup: this is Node ${process.versions.node}; install Node 20 or newer\n`);
  else return await setUp(scopes[args[0] ?? ""] ?? "all");
  return unknown || tooOld ? 1 : 0;
};

process.exit(await main(process.argv.slice(2)));
