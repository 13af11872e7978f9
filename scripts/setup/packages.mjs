import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { findOnPath } from "../../src/local/locate-programs.mjs";
import { SetupError } from "./setup-error.mjs";

/** Oldest Node that runs the TypeScript sources (package.json, engines). */
const oldestNodeMajor = 24;

/** @typedef {{ version?: string, optional?: boolean }} LockedPackage */

/** The packages of npm's lock file; undefined when the file is missing or broken. @param {string} file */
const readLocked = (file) => {
  try {
    return /** @type {{ [path: string]: LockedPackage }} */ (JSON.parse(readFileSync(file, "utf8")).packages);
  } catch {
    return undefined;
  }
};

/**
 * Whether node_modules holds what package-lock.json asks for. npm writes a lock file into node_modules as its last step, so
 * an interrupted installation counts as missing, and an installation by hand (`npm install`) as complete. Optional packages
 * may be absent: they are for other systems.
 * @param {string} root of the repository
 */
export const packagesAreInstalled = (root) => {
  const wanted = readLocked(join(root, "package-lock.json"));
  const present = readLocked(join(root, "node_modules", ".package-lock.json"));
  if (!wanted || !present) return false;
  const complete = Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === "" || present[path]?.version === version || (optional === true && !present[path]),
  );
  return complete && Object.keys(present).every((path) => wanted[path]);
};

/** The Node that the packages bring. @param {string} root */
export const nodeProgram = (root) => join(root, "node_modules", ".bin", "node");

/**
 * Whether node_modules has a Node that is new enough. It exists only after its package's install script has run.
 * @param {string} root
 */
export const nodeIsInstalled = (root) => {
  try {
    accessSync(nodeProgram(root), constants.X_OK);
    const { version } = JSON.parse(readFileSync(join(root, "node_modules", "node", "package.json"), "utf8"));
    return Number.parseInt(version, 10) >= oldestNodeMajor;
  } catch {
    return false;
  }
};

/**
 * The environment of npm: PATH without the repository's own node_modules (`npm start` puts them there), because `npm ci`
 * deletes the Node in node_modules while it runs.
 * @param {string} root
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 */
const npmEnvironment = (root, env) => ({
  ...env,
  PATH: (env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => relative(root, folder).split("/")[0] !== "node_modules")
    .join(delimiter),
});

/**
 * Runs this machine's npm. Throws a SetupError when it is missing or fails.
 * @param {string[]} args
 * @param {{ root: string, cwd: string, env: import("../../src/local/locate-programs.mjs").Environment, run: import("./run-tool.mjs").RunTool }} deps
 *   `root`: of the repository; `cwd`: the folder whose packages are meant
 */
export const callNpm = (args, { root, cwd, env, run }) => {
  const npmEnv = npmEnvironment(root, env);
  const npm = findOnPath("npm", npmEnv);
  if (!npm)
    throw new SetupError("npm is missing", { wayOut: "Install npm (on Debian: apt-get install npm) and run again." });
  return run({
    command: npm,
    args,
    cwd,
    env: npmEnv,
    wayOut: "See whether npm reaches its registry (npm ping), then run again.",
  });
};

/**
 * Installs what package-lock.json asks for, including Node 24, with this machine's npm.
 * @param {{ root: string, env: import("../../src/local/locate-programs.mjs").Environment, run: import("./run-tool.mjs").RunTool,
 *   progress: import("./progress.mjs").Progress }} deps
 */
export const installPackages = async ({ root, env, run, progress }) => {
  /** @param {string[]} args */
  const call = (args) => callNpm(args, { root, cwd: root, env, run });
  if (!packagesAreInstalled(root))
    await progress.step({ title: "installing npm packages" }, () =>
      call(["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund"]),
    );
  // A user's settings can make npm skip all install scripts, also this one.
  if (!nodeIsInstalled(root))
    await progress.step({ title: "installing Node 24 in node_modules" }, () =>
      call(["rebuild", "node", "--ignore-scripts=false"]),
    );
  const rebuild = `Run "npm rebuild node --ignore-scripts=false" in ${root} and see what it says.`;
  if (!nodeIsInstalled(root)) throw new SetupError("npm did not put Node 24 in node_modules", { wayOut: rebuild });
  await run({ command: nodeProgram(root), args: ["--version"], env: npmEnvironment(root, env), wayOut: rebuild });
};
