import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { findOnPath } from "../../src/local/locate-programs.mjs";
import { SetupError } from "./setup-error.mjs";
import { installLine, packagesOf } from "./systems.mjs";

/**
 * Debian's tools run this file before they start a service. Most machines don't have it; a container's own one stays as
 * it is.
 */
const systemPolicyFile = "/usr/sbin/policy-rc.d";

/** Time that dpkg needs to leave its database in order when it is stopped, ms. */
const dpkgGraceMs = 20_000;

/**
 * Forbids starting services while this process lives: invoke-rc.d and deb-systemd-invoke read exit code 101 as
 * "forbidden". If the process is killed before it removes the file, the file allows everything.
 */
const policy = `#!/bin/sh
# written by the set-up of browserpool while it installs packages; may be deleted
if kill -0 ${process.pid} 2>/dev/null; then exit 101; fi
exit 0
`;

/**
 * Keeps packages from starting services during `work`, and then restores the machine's policy.
 * @template T
 * @param {string} policyFile
 * @param {() => Promise<T>} work
 */
const withoutNewServices = async (policyFile, work) => {
  try {
    writeFileSync(policyFile, policy, { flag: "wx", mode: 0o755 });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    // Either the machine has its own policy, or a killed set-up left this one.
    if (!readFileSync(policyFile, "utf8").includes("set-up of browserpool")) return await work();
    writeFileSync(policyFile, policy, { mode: 0o755 });
  }
  try {
    return await work();
  } finally {
    rmSync(policyFile, { force: true });
  }
};

/**
 * Whether this process can install Debian packages.
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 */
const canInstallDebianPackages = (env) => process.getuid?.() === 0 && findOnPath("apt-get", env) !== undefined;

/** The text of the system's os-release; "" where there is none. */
const osRelease = () => {
  try {
    return readFileSync("/etc/os-release", "utf8");
  } catch {
    return "";
  }
};

/**
 * Throws when these programs are missing and this process can't install them. The error has the line with which
 * somebody can, on this system.
 * @param {readonly string[]} programs
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 */
export const requireInstallable = (programs, env) => {
  if (programs.length === 0 || canInstallDebianPackages(env)) return;
  const line = installLine({ platform: process.platform, osRelease: osRelease() }, programs);
  throw new SetupError(`${programs.join(", ")} ${programs.length > 1 ? "are" : "is"} missing`, {
    exitCode: 2,
    wayOut: [
      line ? `Install what is missing, then run again:\n  ${line}` : "Install what is missing so that it is on PATH.",
      "Or name programs that you have by BROWSERPOOL_REDIS_SERVER, BROWSERPOOL_CHROMIUM, BROWSERPOOL_CHROMIUM_HEADLESS and BROWSERPOOL_CHROMEDRIVER.",
    ].join("\n"),
  });
};

/**
 * Installs the Debian packages of these programs without recommended ones. Throws when this process can't. One call at a
 * time: apt-get works for one caller.
 * @param {readonly string[]} programs
 * @param {{ env: import("../../src/local/locate-programs.mjs").Environment, run: import("./run-tool.mjs").RunTool,
 *   progress: import("./progress.mjs").Progress, policyFile?: string }} deps `policyFile` replaces the system's for a test
 */
export const installDebianPackages = async (programs, { env, run, progress, policyFile = systemPolicyFile }) => {
  requireInstallable(programs, env);
  const aptGet = findOnPath("apt-get", env) ?? "apt-get";
  const packages = packagesOf("apt", programs);
  // Without NEEDRESTART_SUSPEND, needrestart would restart other services after the installation.
  const aptEnv = { ...env, DEBIAN_FRONTEND: "noninteractive", NEEDRESTART_SUSPEND: "1", LC_ALL: "C.UTF-8" };
  const wayOut = `See what this says, then run again: ${installLine({ platform: "linux", osRelease: "ID=debian" }, programs)}`;
  /** @param {string} command @param {string[]} args */
  const call = (command, args) => run({ command, args, env: aptEnv, wayOut, graceMs: dpkgGraceMs });
  const patient = ["-o", "DPkg::Lock::Timeout=120"];
  const install = () => call(aptGet, [...patient, "install", "-y", "--no-install-recommends", ...packages]);
  /** Repairs the usual obstacles: missing or old package lists, an interrupted dpkg. */
  const repair = async () => {
    await call("dpkg", ["--configure", "-a"]);
    await call(aptGet, [...patient, "update"]);
  };
  await progress.step({ title: `installing ${packages.join(", ")}` }, () =>
    withoutNewServices(policyFile, () => install().catch(() => repair().then(install))),
  );
};
