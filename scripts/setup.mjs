#!/usr/bin/env node
/**
 * Installs what `npm start` and `npm test` need on a bare machine. Needs only Node 20 itself. When nothing is missing,
 * it prints nothing and ends at once. `usage` says what it installs and where.
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
  receiverPrograms,
  storePrograms,
  testPrograms,
} from "../src/local/locate-programs.mjs";
import { installDebianPackages } from "./setup/debian-packages.mjs";
import { takeLock } from "./setup/lock.mjs";
import { installPackages, nodeIsInstalled, packagesAreInstalled } from "./setup/packages.mjs";
import { installPrograms } from "./setup/programs.mjs";
import { createProgress } from "./setup/progress.mjs";
import { installPython, locatePython } from "./setup/python-environments.mjs";
import { createToolRunner } from "./setup/run-tool.mjs";
import { SetupError } from "./setup/setup-error.mjs";

const usage = `usage: node scripts/setup.mjs [--packages-only | --check | --tests | --robustness | --openapi | --cluster]

Installs only what is missing:
  in node_modules, by npm ci      npm packages, Node 24 among them
  by apt-get, as root             redis-server, chromium, chromium-headless-shell, Xvfb, socat, ip, bwrap,
                                  ffmpeg
  in the cache                    etcd, kube-apiserver, kubectl: downloaded, else built from Go modules

  --packages-only   npm packages only
  --check           npm packages, and the chart's checkers: helm, helm-unittest, kubeconform, downloaded or built like the others.
                    The set-up names what it can't install, and the check skips what needs it
  --tests           also versitygw and otelcol, the S3 server and the OpenTelemetry Collector of the tests, built from Go;
                    and the public Python client, from PyPI, with Python by apt-get, where it is missing.
                    The set-up names what it can't install, and the tests skip what needs it
  --robustness      also what the robustness tests use: faketime by apt-get; toxiproxy, linearizability built from Go.
                    The set-up names what it can't install, and the tests skip what needs it
  --openapi         also Schemathesis, from PyPI; and Python by apt-get, where it is missing.
                    The set-up says so when it can't install it
  --cluster         npm packages, and what the cluster tests use beside Docker: kubectl, helm, kind, versitygw
  --help            this text

Environment:
  KUBEBUILDER_ASSETS            folder with etcd, kube-apiserver and kubectl to use
  BROWSERPOOL_CACHE_DIR         the cache (default: browserpool in the user's cache folder)
  BROWSERPOOL_DOWNLOAD_MIRROR   URL to download from instead of the official ones; "off": always build
  BROWSERPOOL_REDIS_SERVER, BROWSERPOOL_CHROMIUM, BROWSERPOOL_CHROMIUM_HEADLESS   programs to use instead of those on PATH
`;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const env = process.env;

/** The oldest Node that can run this set-up, which installs the newer Node that the product needs. */
const oldestNodeMajor = 20;

const systemPrograms = /** @type {const} */ ([
  "redis-server",
  "chromium",
  "chromium-headless-shell",
  "Xvfb",
  "socat",
  "ip",
  "bwrap",
  "ffmpeg",
]);

const robustnessPrograms = /** @type {const} */ (["faketime"]);

/**
 * What the set-up installs: `packages`, only npm packages; `check` and `cluster`, also the programs of the check or of
 * the cluster tests; `all`, what the product needs; `tests`, also its tests' programs; `robustness`, also the
 * robustness tests' programs; `openapi`, also what tries the API's document.
 */
/** @typedef {"packages" | "check" | "cluster" | "all" | "tests" | "robustness" | "openapi"} Scope */

/**
 * The Python environments of a scope. @param {Scope} scope @returns
 * {import("./setup/python-environments.mjs").PythonEnvironment[]}
 */
const pythonOf = (scope) => {
  if (scope === "openapi") return ["schemathesis"];
  return scope === "tests" ? ["python-client"] : [];
};

/** Returns what is missing, in the order of installation. @param {Scope} scope */
const findMissing = (scope) => {
  const npmPackages = !packagesAreInstalled(root) || !nodeIsInstalled(root);
  const chart = scope === "check" ? chartPrograms.filter((name) => !isProgram(cachedProgramPath(name, env))) : [];
  const programs = locatePrograms(env);
  const cluster = scope === "cluster" ? [...clusterPrograms, ...storePrograms].filter((name) => !programs[name]) : [];
  if (scope === "packages" || scope === "check" || scope === "cluster")
    return { npmPackages, chart, cluster, system: [], controlPlane: [], clock: [], tests: [], store: [], python: [] };
  const complete = controlPlanePrograms.every((name) => programs[name]);
  const isTested = scope === "robustness";
  return {
    npmPackages,
    chart,
    cluster,
    system: systemPrograms.filter((name) => !programs[name]),
    // All three must have one version, so a kubectl from elsewhere is used only when the other two need not be
    // installed.
    controlPlane: complete ? [] : controlPlanePrograms.filter((name) => !isProgram(cachedProgramPath(name, env))),
    clock: isTested ? robustnessPrograms.filter((name) => !programs[name]) : [],
    tests: isTested ? testPrograms.filter((name) => !programs[name]) : [],
    store: scope === "tests" ? [...storePrograms, ...receiverPrograms].filter((name) => !programs[name]) : [],
    python: pythonOf(scope).filter((name) => !locatePython(name, root, env)),
  };
};

/** @typedef {ReturnType<typeof findMissing>} Missing */

/** The programs without which nothing works. @param {Missing} missing */
const neededOf = ({ system, controlPlane, cluster }) => [...system, ...controlPlane, ...cluster];

/** @param {Missing} missing */
const isNothing = (missing) =>
  !missing.npmPackages &&
  [...neededOf(missing), ...missing.chart, ...missing.clock, ...missing.tests, ...missing.store, ...missing.python]
    .length === 0;

/**
 * Installs programs that the check and the tests can do without. Prints a line when that fails.
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
 * Installs what is missing. Only one set-up at a time does so on a machine.
 * @param {Scope} scope
 * @param {AbortSignal} signal
 * @param {string} logFile
 */
const install = async (scope, signal, logFile) => {
  const progress = createProgress(process.stderr);
  const unlock = await takeLock(join(cacheDir(env), "setup.lock"), {
    signal,
    onWait: (pid) => progress.say(`another set-up (process ${pid}) is running; waiting for it`),
  });
  try {
    const missing = findMissing(scope); // check again: the other set-up may have installed it all
    writeFileSync(logFile, "", { mode: 0o600 });
    const deps = { root, env, run: createToolRunner({ logFile, signal }), progress, signal };
    if (missing.npmPackages) await installPackages(deps);
    if (missing.system.length > 0) await installDebianPackages(missing.system, deps);
    if (missing.controlPlane.length > 0) await installPrograms(missing.controlPlane, deps);
    if (missing.cluster.length > 0) await installPrograms(missing.cluster, deps);
    await tryToInstall(missing.chart, () => installPrograms(missing.chart, deps), deps);
    await tryToInstall(missing.clock, () => installDebianPackages(missing.clock, deps), deps);
    await tryToInstall(missing.tests, () => installPrograms(missing.tests, deps), deps);
    await tryToInstall(missing.store, () => installPrograms(missing.store, deps), deps);
    for (const name of missing.python) await tryToInstall([name], () => installPython(name, deps), deps);
    const left = neededOf(findMissing(scope));
    if (left.length > 0)
      throw new SetupError(`${left.join(", ")} still missing after the installation`, {
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

/** Exit codes of a process that a signal ended, as shells report them. */
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
  "--tests": "tests",
  "--robustness": "robustness",
  "--openapi": "openapi",
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
