#!/usr/bin/env node
/**
 * Installs what `npm start` and `npm test` need on a bare machine. Needs only Node 20 itself. When nothing is missing,
 * it prints nothing and ends at once. `usage` says what it installs and where.
 */
import { accessSync, constants, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  cacheDir,
  checkPrograms,
  clusterPrograms,
  controlPlanePrograms,
  gitOpsPrograms,
  locatePrograms,
  receiverPrograms,
  releasePrograms,
  serverPrograms,
  storePrograms,
  testPrograms,
} from "../src/local/locate-programs.mjs";
import { installDebianPackages, requireInstallable } from "./setup/debian-packages.mjs";
import { takeLock } from "./setup/lock.mjs";
import { installPackages, nodeIsInstalled, packagesAreInstalled } from "./setup/packages.mjs";
import { buildSeconds, installPrograms } from "./setup/programs.mjs";
import { createProgress, inWords } from "./setup/progress.mjs";
import { installPython, locatePython } from "./setup/python-environments.mjs";
import { createToolRunner } from "./setup/run-tool.mjs";
import { SetupError } from "./setup/setup-error.mjs";
import { together } from "./setup/together.mjs";

const usage = `usage: node scripts/setup.mjs [--packages-only | --kubectl | --image | --check | --tests | --robustness | --openapi | --cluster | --release]

Installs only what is missing:
  in node_modules, by npm ci      npm packages, Node 24 among them
  by apt-get, as root             redis-server, chromium, chromium-headless-shell, Xvfb, socat, ip, bwrap,
                                  ffmpeg, chromedriver
  in the cache                    etcd, kube-apiserver: downloaded, else built from Go modules; Go itself as a
                                  module, where it is missing or too old

  --packages-only   npm packages only
  --kubectl         npm packages, and kubectl, which only people use: downloaded or built like the others
  --image           npm packages, etcd, kube-apiserver and kubectl: what the image of local mode is built from, beside Docker
  --check           npm packages, and the checkers of the chart and the workflows: helm, helm-unittest, kubeconform, promtool,
                    actionlint, downloaded or built like the others.
                    The set-up names what it can't install, and the check skips what needs it
  --tests           also kubectl, and versitygw and otelcol, the S3 server and the OpenTelemetry Collector of the tests, built from Go;
                    gitops-health, which says what GitOps tools say of objects, from Go too;
                    and the public Python client, from PyPI, with Python by apt-get, where it is missing.
                    The set-up names what it can't install, and the tests skip what needs it
  --robustness      also what the robustness tests use: kubectl; faketime by apt-get; toxiproxy, linearizability built from Go.
                    The set-up names what it can't install, and the tests skip what needs it
  --openapi         also Schemathesis, from PyPI; and Python by apt-get, where it is missing.
                    The set-up says so when it can't install it
  --cluster         npm packages, and what the cluster tests use beside Docker: kubectl, helm, kind, versitygw
  --release         npm packages, and what a release is made with beside Docker: helm, crane, cosign, registry for rehearsals, and
                    krew with its validator
  --help            this text

Environment:
  KUBEBUILDER_ASSETS            folder with etcd, kube-apiserver and kubectl to use
  BROWSERPOOL_CACHE_DIR         the cache (default: browserpool in the user's cache folder)
  BROWSERPOOL_DOWNLOAD_MIRROR   URL to download from instead of the official ones; "off": always build
  BROWSERPOOL_REDIS_SERVER, BROWSERPOOL_CHROMIUM, BROWSERPOOL_CHROMIUM_HEADLESS, BROWSERPOOL_CHROMEDRIVER
                                programs to use instead of those on PATH
  BROWSERPOOL_WITHOUT           programs that apt-get installs, to go on without: "ffmpeg,Xvfb"
`;

/** @typedef {import("../src/local/locate-programs.mjs").CachedProgram} CachedProgram */
/** @typedef {import("../src/local/locate-programs.mjs").SystemProgram} SystemProgram */

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
  "chromedriver",
]);

/**
 * What the set-up installs beside npm packages. `programs` and `system`: in the cache and by apt-get, without which it
 * fails; `extra`, `extraSystem` and `python`: what checks and tests can do without.
 * @typedef {object} Wanted
 * @property {readonly CachedProgram[]} [programs]
 * @property {readonly SystemProgram[]} [system]
 * @property {readonly CachedProgram[]} [extra]
 * @property {readonly SystemProgram[]} [extraSystem]
 * @property {readonly import("./setup/python-environments.mjs").PythonEnvironment[]} [python]
 */

/** By argument; "" is what `npm start` needs. @satisfies {{ [argument: string]: Wanted }} */
const scopes = {
  "": { programs: serverPrograms, system: systemPrograms },
  "--packages-only": {},
  "--kubectl": { programs: ["kubectl"] },
  "--image": { programs: controlPlanePrograms },
  "--check": { extra: checkPrograms },
  "--tests": {
    ...{ programs: controlPlanePrograms, system: systemPrograms },
    ...{ extra: [...storePrograms, ...receiverPrograms, ...gitOpsPrograms], python: ["python-client"] },
  },
  "--robustness": {
    ...{ programs: controlPlanePrograms, system: systemPrograms },
    ...{ extra: testPrograms, extraSystem: ["faketime"] },
  },
  "--openapi": { programs: serverPrograms, system: systemPrograms, python: ["schemathesis"] },
  "--cluster": { programs: [...clusterPrograms, ...storePrograms] },
  "--release": { programs: releasePrograms },
};

/** The programs that somebody wants to go on without. */
const leftOut = (env.BROWSERPOOL_WITHOUT ?? "").split(",");

/** What is missing of it. @param {Wanted} wanted */
const findMissing = ({ programs = [], system = [], extra = [], extraSystem = [], python = [] }) => {
  const found = locatePrograms(env);
  return {
    npmPackages: !packagesAreInstalled(root) || !nodeIsInstalled(root),
    programs: programs.filter((name) => !found[name]),
    system: system.filter((name) => !found[name] && (name === "redis-server" || !leftOut.includes(name))),
    extra: extra.filter((name) => !found[name]),
    extraSystem: extraSystem.filter((name) => !found[name]),
    python: python.filter((name) => !locatePython(name, root, env)),
  };
};

/** @typedef {ReturnType<typeof findMissing>} Missing */

/** @param {Missing} missing */
const isNothing = ({ npmPackages, ...lists }) =>
  !npmPackages && Object.values(lists).every((names) => names.length === 0);

/** Makes the cache. Throws when it can't be written to. */
const requireCache = () => {
  const folder = cacheDir(env);
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw new SetupError(`${folder} can't be written to: ${cause instanceof Error ? cause.message : cause}`, {
      exitCode: 2,
      wayOut: "Set BROWSERPOOL_CACHE_DIR to a folder in which you may write and execute programs, then run again.",
      cause,
    });
  }
};

/** An empty log of the tools that run in a lane. @param {string} lane */
const newLog = (lane) => {
  const file = join(cacheDir(env), `setup-${lane}.log`);
  writeFileSync(file, "", { mode: 0o600 });
  return file;
};

/**
 * What is told at the beginning: what will be got, from where, and how long that takes.
 * @param {Missing} missing
 */
const planOf = ({ npmPackages, system, extraSystem, programs, extra, python }) => {
  const cached = [...programs, ...extra];
  const build = buildSeconds(cached);
  const rows = [
    { what: npmPackages ? ["npm packages, Node 24 among them"] : [], from: "from npm", seconds: 30 },
    { what: [...system, ...extraSystem], from: "by apt-get", seconds: 30 },
    { what: cached, from: `downloaded, else built from Go modules in ${inWords(build)}`, seconds: build },
    { what: python, from: "from PyPI", seconds: 30 },
  ].filter(({ what }) => what.length > 0);
  const longest = Math.max(...rows.map(({ seconds }) => seconds));
  return [
    `gets what is missing, beside each other, in at most ${inWords(longest)} or so; an interrupted set-up goes on where it was`,
    ...rows.map(({ what, from }) => `  ${what.join(", ")}: ${from}`),
  ];
};

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
 * Installs what is missing, what comes from different places at the same time. Only one set-up at a time does so on a
 * machine.
 * @param {Wanted} wanted
 * @param {Missing} before what was missing when the set-up began
 * @param {AbortSignal} signal
 */
const install = async (wanted, before, signal) => {
  const progress = createProgress(process.stderr);
  requireInstallable(before.system, env);
  requireCache();
  const unlock = await takeLock(join(cacheDir(env), "setup.lock"), {
    signal,
    onWait: (pid) => progress.say(`another set-up (process ${pid}) is running; waiting for it`),
  });
  /** What a lane works with; its tools have a log of their own. @param {string} lane @param {AbortSignal} stop */
  const depsOf = (lane, stop) => ({
    ...{ root, env, progress, signal: stop },
    run: createToolRunner({ logFile: newLog(lane), signal: stop }),
  });
  try {
    const missing = findMissing(wanted); // check again: the other set-up may have installed it all
    for (const line of planOf(missing)) progress.say(line);
    /** @type {Promise<unknown>} */
    let packages = Promise.resolve();
    await together(signal, [
      (stop) => {
        if (missing.npmPackages) packages = installPackages(depsOf("npm", stop));
        return packages;
      },
      async (stop) => {
        const deps = depsOf("system", stop);
        if (missing.system.length > 0) await installDebianPackages(missing.system, deps);
        await tryToInstall(missing.extraSystem, () => installDebianPackages(missing.extraSystem, deps), deps);
        for (const name of missing.python) await tryToInstall([name], () => installPython(name, deps), deps);
      },
      async (stop) => {
        const whenPackages = () => packages.catch(() => undefined);
        const deps = { ...depsOf("programs", stop), whenPackages };
        if (missing.programs.length > 0) await installPrograms(missing.programs, deps);
        await tryToInstall(missing.extra, () => installPrograms(missing.extra, deps), deps);
      },
    ]);
    const { system, programs } = findMissing(wanted);
    const left = [...system, ...programs];
    if (left.length > 0)
      throw new SetupError(`${left.join(", ")} still missing after the installation`, {
        wayOut: `See the logs in ${cacheDir(env)}; the programs must be in a folder of PATH.`,
      });
  } finally {
    unlock();
  }
};

/** @param {unknown} error */
const explain = (error) => {
  if (!(error instanceof SetupError)) return `setup: failed: ${error instanceof Error ? error.stack : error}\n`;
  const { logTail, logFile } = error;
  const shown = logTail.length > 0 ? [...logTail.map((line) => `  | ${line}`), `setup: whole log: ${logFile}`] : [];
  return [
    `setup: failed: ${error.message}`,
    ...shown,
    ...error.wayOut.split("\n").map((line) => `setup: ${line}`),
    "",
  ].join("\n");
};

/** Exit codes of a process that a signal ended, as shells report them. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** @param {Wanted} wanted @returns {Promise<number>} the exit code */
const setUp = async (wanted) => {
  const missing = findMissing(wanted);
  if (isNothing(missing)) return 0;
  const stop = new AbortController();
  let code = 1;
  for (const [name, exitCode] of Object.entries(exitCodes))
    process.on(name, () => {
      code = exitCode;
      stop.abort(new Error(`stopped by ${name}`));
    });
  try {
    await install(wanted, missing, stop.signal);
    return 0;
  } catch (error) {
    process.stderr.write(stop.signal.aborted ? "setup: stopped; the next run goes on from here\n" : explain(error));
    return !stop.signal.aborted && error instanceof SetupError ? error.exitCode : code;
  }
};

/** @param {readonly string[]} args @returns {Promise<number>} the exit code */
const main = async (args) => {
  const wanted = new Map(Object.entries(scopes)).get(args[0] ?? "");
  const tooOld = Number.parseInt(process.versions.node, 10) < oldestNodeMajor;
  if (args.includes("--help")) process.stdout.write(usage);
  else if (!wanted || args.length > 1) process.stderr.write(`setup: unknown argument ${args.at(-1)}\n${usage}`);
  else if (tooOld) process.stderr.write(`setup: this is Node ${process.versions.node}; install Node 20 or newer\n`);
  else return await setUp(wanted);
  return args.includes("--help") ? 0 : 1;
};

process.exit(await main(process.argv.slice(2)));
