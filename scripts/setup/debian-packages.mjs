import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { findOnPath } from "../../src/local/locate-programs.mjs";
import { SetupError } from "./setup-error.mjs";

/** The Debian package of each program. @type {{ [program: string]: string }} */
const packageOf = {
  "redis-server": "redis-server",
  chromium: "chromium",
  "chromium-headless-shell": "chromium-headless-shell",
  Xvfb: "xvfb",
  socat: "socat",
  ip: "iproute2",
  bwrap: "bubblewrap",
  ffmpeg: "ffmpeg",
  faketime: "faketime",
  go: "golang-go",
  // With python3 itself, and with ensurepip, which Debian takes out of that.
  python3: "python3-venv",
};

/**
 * Debian's tools run this file before they start a service. Most machines don't have it; a container's own one stays as
 * it is.
 */
const systemPolicyFile = "/usr/sbin/policy-rc.d";

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

/** @param {readonly string[]} packages */
const commands = (packages) => `apt-get update && apt-get install -y --no-install-recommends ${packages.join(" ")}`;

/**
 * Whether this process can install Debian packages.
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 */
export const canInstallDebianPackages = (env) => process.getuid?.() === 0 && findOnPath("apt-get", env) !== undefined;

/**
 * Throws when this process can't install the packages of `programs`. The error has the commands for a user who can.
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
      `Install what is missing so that it is on PATH (Debian's packages: ${packages.join(" ")}), or set\n` +
      "BROWSERPOOL_REDIS_SERVER, BROWSERPOOL_CHROMIUM and BROWSERPOOL_CHROMIUM_HEADLESS to the programs. Then run again.",
  });
};

/**
 * Installs the Debian packages of `programs` (keys of `packageOf`) without recommended packages.
 * @param {readonly string[]} programs
 * @param {{ env: import("../../src/local/locate-programs.mjs").Environment, run: import("./run-tool.mjs").RunTool,
 *   progress: import("./progress.mjs").Progress, policyFile?: string }} deps `policyFile` replaces the system's for a test
 */
export const installDebianPackages = async (programs, { env, run, progress, policyFile = systemPolicyFile }) => {
  const { aptGet, packages } = requireApt(programs, env);
  // Without NEEDRESTART_SUSPEND, needrestart would restart other services after the installation.
  const aptEnv = { ...env, DEBIAN_FRONTEND: "noninteractive", NEEDRESTART_SUSPEND: "1", LC_ALL: "C.UTF-8" };
  const wayOut = `See what this says, then run again: ${commands(packages)}`;
  /** @param {string} command @param {string[]} args */
  const call = (command, args) => run({ command, args, env: aptEnv, wayOut });
  const patient = ["-o", "DPkg::Lock::Timeout=120"];
  const install = () => call(aptGet, [...patient, "install", "-y", "--no-install-recommends", ...packages]);
  /** Repairs the usual obstacles: missing or old package lists, an interrupted dpkg. */
  const repair = async () => {
    await call("dpkg", ["--configure", "-a"]);
    await call(aptGet, [...patient, "update"]);
  };
  await progress.step({ title: `installing ${packages.join(", ")}`, expected: "about a minute" }, () =>
    withoutNewServices(policyFile, () => install().catch(() => repair().then(install))),
  );
};
