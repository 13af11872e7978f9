import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheDir, findOnPath } from "../../src/local/locate-programs.mjs";
import { installDebianPackages } from "./debian-packages.mjs";

/** @typedef {import("../../src/local/locate-programs.mjs").Environment} Environment */

/** Its packages with their versions. @param {string} root of the repository */
const requirementsFile = (root) => join(root, "tools/schemathesis/requirements.txt");

/** The virtual environment; its name has a digest of the requirements, so an update is a new one. @param {string} root @param {Environment} env */
const folderOf = (root, env) => {
  const digest = createHash("sha256")
    .update(readFileSync(requirementsFile(root)))
    .digest("hex")
    .slice(0, 8);
  return join(cacheDir(env), "python", `schemathesis-${digest}`);
};

/** Written last: without it an installation was broken off. @param {string} folder */
const markOf = (folder) => join(folder, "complete");

/**
 * The path of Schemathesis' program; undefined when it is not installed.
 * @param {string} root of the repository
 * @param {Environment} env
 */
export const locateSchemathesis = (root, env) => {
  const folder = folderOf(root, env);
  return existsSync(markOf(folder)) ? join(folder, "bin/st") : undefined;
};

/** Longest time for Python to tell about itself, ms. */
const answerMs = 20_000;

/** A Python 3.10 or newer that can make virtual environments; Debian has these in a package of their own. @param {Environment} env */
const usablePython = (env) => {
  const python = findOnPath("python3", env);
  const code = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";
  const answer = python && spawnSync(python, ["-c", code], { env: { ...env }, timeout: answerMs, stdio: "ignore" });
  return answer && answer.status === 0 ? python : undefined;
};

/**
 * Installs Schemathesis from PyPI into the cache, and Python before it where that is missing. Throws a SetupError.
 * @param {{ root: string, env: Environment, run: import("./run-tool.mjs").RunTool, progress: import("./progress.mjs").Progress }} deps
 */
export const installSchemathesis = async (deps) => {
  const { root, env, run, progress } = deps;
  if (!usablePython(env)) await installDebianPackages(["python3"], deps);
  const python = usablePython(env) ?? "python3";
  const folder = folderOf(root, env);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const wayOut = "Python 3.10 or newer with venv and pip is needed, and PyPI must be reachable. Then run again.";
  await progress.step({ title: "installing Schemathesis from PyPI", expected: "half a minute" }, async () => {
    await run({ command: python, args: ["-m", "venv", folder], env, wayOut });
    const args = ["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"];
    await run({
      command: join(folder, "bin/python"),
      args: [...args, "--requirement", requirementsFile(root)],
      env,
      wayOut,
    });
    writeFileSync(markOf(folder), "");
  });
};
