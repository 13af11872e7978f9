import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheDir, findOnPath } from "../../src/local/locate-programs.mjs";
import { installDebianPackages } from "./debian-packages.mjs";

/** @typedef {import("../../src/local/locate-programs.mjs").Environment} Environment */

/**
 * Virtual environments with packages from PyPI, by the folder below `tools` whose `requirements.txt` pins them.
 * `program`: what is started in it. `title`: for people.
 */
const pythonEnvironments = /** @type {const} */ ({
  schemathesis: { program: "bin/st", title: "Schemathesis" },
  "python-client": { program: "bin/python", title: "the public Python client" },
  "browser-use": { program: "bin/python", title: "browser-use" },
});

/** @typedef {keyof typeof pythonEnvironments} PythonEnvironment */

/** Its packages with their versions. @param {PythonEnvironment} name @param {string} root of the repository */
const requirementsFile = (name, root) => join(root, "tools", name, "requirements.txt");

/**
 * The virtual environment; its folder's name has a digest of the requirements, so an update is a new one.
 * @param {PythonEnvironment} name
 * @param {string} root
 * @param {Environment} env
 */
const folderOf = (name, root, env) => {
  const digest = createHash("sha256")
    .update(readFileSync(requirementsFile(name, root)))
    .digest("hex")
    .slice(0, 8);
  return join(cacheDir(env), "python", `${name}-${digest}`);
};

/** Written last: without it an installation was broken off. @param {string} folder */
const markOf = (folder) => join(folder, "complete");

/**
 * The path of the environment's program; undefined when it is not installed.
 * @param {PythonEnvironment} name
 * @param {string} root of the repository
 * @param {Environment} env
 */
export const locatePython = (name, root, env) => {
  const folder = folderOf(name, root, env);
  return existsSync(markOf(folder)) ? join(folder, pythonEnvironments[name].program) : undefined;
};

/** Longest time for Python to tell about itself, ms. */
const answerMs = 20_000;

/**
 * A Python 3.10 or newer that can make virtual environments; Debian has these in a package of their own. @param
 * {Environment} env
 */
const usablePython = (env) => {
  const python = findOnPath("python3", env);
  const code = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";
  const answer = python && spawnSync(python, ["-c", code], { env: { ...env }, timeout: answerMs, stdio: "ignore" });
  return answer && answer.status === 0 ? python : undefined;
};

/**
 * Installs an environment from PyPI into the cache, and Python before it where that is missing. Throws a SetupError.
 * @param {PythonEnvironment} name
 * @param {{ root: string, env: Environment, run: import("./run-tool.mjs").RunTool, progress: import("./progress.mjs").Progress }} deps
 */
export const installPython = async (name, deps) => {
  const { root, env, run, progress } = deps;
  if (!usablePython(env)) await installDebianPackages(["python3"], deps);
  const python = usablePython(env) ?? "python3";
  const folder = folderOf(name, root, env);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const wayOut = "Python 3.10 or newer with venv and pip is needed, and PyPI must be reachable. Then run again.";
  const title = `installing ${pythonEnvironments[name].title} from PyPI`;
  await progress.step({ title }, async () => {
    await run({ command: python, args: ["-m", "venv", folder], env, wayOut });
    const args = ["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"];
    await run({
      command: join(folder, "bin/python"),
      args: [...args, "--requirement", requirementsFile(name, root)],
      env,
      wayOut,
    });
    writeFileSync(markOf(folder), "");
  });
};
