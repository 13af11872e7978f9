import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { findOnPath } from "../../src/local/locate-programs.mjs";
import { SetupError } from "./setup-error.mjs";

/** The package that brings each program. @type {{ [program: string]: string }} */
const packageOf = {
  "redis-server": "redis-server",
  chromium: "chromium",
  "chromium-headless-shell": "chromium-headless-shell",
  Xvfb: "xvfb",
  faketime: "faketime",
  go: "golang-go",
};

/** What Debian's tools ask before they start a service; absent on most machines, and a container's own is left alone. */
const systemPolicyFile = "/usr/sbin/policy-rc.d";

/**
 * Forbids new services as long as this process lives (invoke-rc.d and deb-systemd-invoke read 101 as "forbidden"). Should the
 * process be killed before it can remove the file, the file allows everything again.
 */
const policy = `#!/bin/sh
# written by the set-up of browserpool while it installs packages; may be deleted
if kill -0 ${process.pid} 2>/dev/null; then exit 101; fi
exit 0
`;

/**
 * Keeps packages from starting services during `work`; leaves the machine as it was.
 * @template T
 * @param {string} policyFile
 * @param {() => Promise<T>} work
 */
const withoutNewServices = async (policyFile, work) => {
  try {
    writeFileSync(policyFile, policy, { flag: "wx", mode: 0o755 });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    // the machine has a policy of its own, or one is left of a set-up that was killed
    if (!readFileSync(policyFile, "utf8").includes("set-up of browserpool")) return await work();
    writeFileSync(policyFile, policy, { mode: 0o755 });
  }
  try {
    return await work();
  } finally {
    rmSync(policyFile, { force: true });
  }
};

/** @param {readonly string[]} packages */
const commands = (packages) => `apt-get update && apt-get install -y --no-install-recommends ${packages.join(" ")}`;

/**
 * Whether this process can install Debian packages.
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 */
export const canInstallDebianPackages = (env) => process.getuid?.() === 0 && findOnPath("apt-get", env) !== undefined;

/**
 * Throws when this process can't install the packages of `programs`, naming the commands for somebody who can.
 * @param {readonly string[]} programs
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 */
const requireApt = (programs, env) => {
  const packages = programs.map((program) => packageOf[program] ?? program);
  const aptGet = findOnPath("apt-get", env);
  if (aptGet && canInstallDebianPackages(env)) return { aptGet, packages };
  const missing = `${programs.join(", ")} ${programs.length > 1 ? "are" : "is"} missing`;
  if (aptGet)
    throw new SetupError(`${missing}, and only root can install packages`, {
      wayOut: `Run this as root: ${commands(packages)}\nThen run again.`,
    });
  throw new SetupError(`${missing}, and there is no apt-get`, {
    wayOut:
      `Install what is missing so that it is on PATH (Debian's packages: ${packages.join(" ")}), or name programs by\n` +
      "BROWSERPOOL_REDIS_SERVER, BROWSERPOOL_CHROMIUM and BROWSERPOOL_CHROMIUM_HEADLESS. Then run again.",
  });
};

/**
 * Installs the Debian packages of `programs` (keys of `packageOf`) and nothing that they only recommend.
 * @param {readonly string[]} programs
 * @param {{ env: import("../../src/local/locate-programs.mjs").Environment, run: import("./run-tool.mjs").RunTool,
 *   progress: import("./progress.mjs").Progress, policyFile?: string }} deps `policyFile` replaces the system's for a test
 */
export const installDebianPackages = async (programs, { env, run, progress, policyFile = systemPolicyFile }) => {
  const { aptGet, packages } = requireApt(programs, env);
  // NEEDRESTART_SUSPEND: that tool restarts services of others after an installation
  const aptEnv = { ...env, DEBIAN_FRONTEND: "noninteractive", NEEDRESTART_SUSPEND: "1", LC_ALL: "C.UTF-8" };
  const wayOut = `See what this says, then run again: ${commands(packages)}`;
  /** @param {string} command @param {string[]} args */
  const call = (command, args) => run({ command, args, env: aptEnv, wayOut });
  const patient = ["-o", "DPkg::Lock::Timeout=120"];
  const install = () => call(aptGet, [...patient, "install", "-y", "--no-install-recommends", ...packages]);
  /** Missing or old package lists, an interrupted dpkg: what usually stands in the way of an installation. */
  const repair = async () => {
    await call("dpkg", ["--configure", "-a"]);
    await call(aptGet, [...patient, "update"]);
  };
  await progress.step({ title: `installing ${packages.join(", ")}`, expected: "about a minute" }, () =>
    withoutNewServices(policyFile, () => install().catch(() => repair().then(install))),
  );
};
