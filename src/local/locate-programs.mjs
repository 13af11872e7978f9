/**
 * Locates the programs that local mode, the tests and the set-up run besides Node. Plain JavaScript without packages:
 * `scripts/setup.mjs` imports it on Node 20, before anything is installed.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { chromiumNames, chromiumPlaces, pathsOf } from "./chromium-places.mjs";

/** Versions that the set-up installs; the go.mod files of `tools` have the same ones (a test compares them). */
export const pinnedVersions = Object.freeze({ etcd: "v3.7.3", "kube-apiserver": "v1.37.2", kubectl: "v1.37.2" });

/** Of what has no download: etcd and kube-apiserver in one program (tools/control-plane). */
export const builtVersions = Object.freeze({
  "control-plane": `${pinnedVersions.etcd}-${pinnedVersions["kube-apiserver"]}`,
});

/**
 * Programs of the robustness tests only, built from Go modules like those of the control plane. The version of this
 * project's own program is a digest of its sources (a test compares it), so a change of the sources makes a new
 * program.
 */
export const testProgramVersions = Object.freeze({ toxiproxy: "v2.12.0", linearizability: "66c382bf" });

/** The S3 server of the tests, built from Go modules. */
export const storeProgramVersions = Object.freeze({ versitygw: "v1.8.0" });

/** The receiver of telemetry of the tests, built from Go modules. */
export const receiverProgramVersions = Object.freeze({ otelcol: "v0.160.0" });

/** Says what GitOps tools say of objects, built from Go modules; its version is a digest like the one above. */
export const gitOpsProgramVersions = Object.freeze({ "gitops-health": "dad86831" });

/** The Vault of slow tests, built from Go modules by the first of them; its version is a digest like those above. */
export const vaultProgramVersions = Object.freeze({ "vault-server": "80ccfc80" });

/** Programs that check the chart and the workflows, for `npm run check` only. */
export const checkProgramVersions = Object.freeze({
  helm: "v3.19.5",
  "helm-unittest": "v1.0.3",
  kubeconform: "v0.7.0",
  promtool: "v0.316.0",
  actionlint: "v1.7.12",
});

/** Programs of the cluster tests only. */
export const clusterProgramVersions = Object.freeze({ kind: "v0.33.0" });

/** Programs that make a release: they copy, sign and serve images, and install what is made. */
export const releaseProgramVersions = Object.freeze({
  crane: "v0.22.1",
  cosign: "v3.1.3",
  registry: "v3.1.2",
  krew: "v0.5.0",
  "validate-krew-manifest": "v0.5.0",
});

const cachedVersions = {
  ...pinnedVersions,
  ...builtVersions,
  ...testProgramVersions,
  ...storeProgramVersions,
  ...receiverProgramVersions,
  ...gitOpsProgramVersions,
  ...vaultProgramVersions,
  ...checkProgramVersions,
  ...clusterProgramVersions,
  ...releaseProgramVersions,
};

/** @typedef {keyof typeof pinnedVersions} ControlPlaneProgram */
/** @typedef {keyof typeof testProgramVersions} TestProgram */
/** @typedef {keyof typeof storeProgramVersions} StoreProgram */
/** @typedef {keyof typeof receiverProgramVersions} ReceiverProgram */
/** @typedef {keyof typeof checkProgramVersions} CheckProgram */
/** @typedef {keyof typeof cachedVersions} CachedProgram a program that the set-up puts into the cache */
/** @typedef {"redis-server" | "chromium" | "chromium-headless-shell" | "Xvfb" | "socat" | "ip" | "bwrap" | "ffmpeg" | "chromedriver" | "faketime"} SystemProgram */
/** @typedef {{ [name in CachedProgram | SystemProgram]?: string | undefined }} Programs */
/** @typedef {{ [name: string]: string | undefined }} Environment */

/** What only tests run besides. */
export const testPrograms = /** @type {readonly TestProgram[]} */ (Object.freeze(Object.keys(testProgramVersions)));

/** What the tests of the blob store run. */
export const storePrograms = /** @type {readonly StoreProgram[]} */ (Object.freeze(Object.keys(storeProgramVersions)));

/** What the tests of exports run. */
export const receiverPrograms = /** @type {readonly ReceiverProgram[]} */ (
  Object.freeze(Object.keys(receiverProgramVersions))
);

/** What the tests of conditions run. */
export const gitOpsPrograms = /** @type {const} */ (["gitops-health"]);

/** What `npm run check` runs. */
export const checkPrograms = /** @type {readonly CheckProgram[]} */ (Object.freeze(Object.keys(checkProgramVersions)));

/** The programs that the cluster tests install themselves; Docker must already be installed. */
export const clusterPrograms = /** @type {const} */ (["kubectl", "helm", "kind"]);

/** What a release is made with, beside Docker. */
export const releasePrograms = /** @type {const} */ ([
  "helm",
  "crane",
  "cosign",
  "registry",
  "krew",
  "validate-krew-manifest",
]);

/** What local mode runs as the control plane. */
export const serverPrograms = /** @type {const} */ (["etcd", "kube-apiserver"]);

/** The control plane, and what people call it with. */
export const controlPlanePrograms = /** @type {readonly ControlPlaneProgram[]} */ (
  Object.freeze(Object.keys(pinnedVersions))
);

/**
 * Oldest minor version of kubectl `1.x` that is used from PATH: kubectl may be two minor versions away from the API
 * server.
 */
const oldestKubectlMinor = 35;

/** How long a kubectl on PATH may take to print its version, ms; a wrapper script that hangs must not block a start. */
const kubectlAnswerMs = 5_000;

/** Whether `path` is a file that this process may execute. @param {string} path */
export const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/**
 * Absolute path of `name` in PATH, undefined when no folder of PATH has it.
 * @param {string} name
 * @param {Environment} env
 */
export const findOnPath = (name, env) =>
  (env.PATH ?? "")
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isProgram);

/**
 * Folder outside the repository that the set-up fills: `BROWSERPOOL_CACHE_DIR`, else `browserpool` in the user's cache folder.
 * @param {Environment} env
 */
export const cacheDir = (env) =>
  resolve(
    env.BROWSERPOOL_CACHE_DIR || join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "browserpool"),
  );

/**
 * The path for a program that the set-up downloads or builds. The name contains the version, so an update is a new file.
 * @param {CachedProgram} name
 * @param {Environment} env
 */
export const cachedProgramPath = (name, env) => join(cacheDir(env), "bin", `${name}-${cachedVersions[name]}`);

/**
 * A program that is used from the cache only, since its version matters. @param {CachedProgram} name @param
 * {Environment} env
 */
const locateCachedProgram = (name, env) => {
  const cached = cachedProgramPath(name, env);
  return isProgram(cached) ? cached : undefined;
};

/**
 * `KUBEBUILDER_ASSETS`, if it contains the whole control plane; an incomplete folder is ignored.
 * @param {Environment} env
 */
const givenAssets = (env) => {
  const folder = env.KUBEBUILDER_ASSETS;
  return folder && controlPlanePrograms.every((name) => isProgram(resolve(folder, name))) ? folder : undefined;
};

/**
 * The kubectl of PATH if it is new enough. This runs it, so it is called only when there is no other kubectl.
 * @param {Environment} env
 */
const kubectlOnPath = (env) => {
  const path = findOnPath("kubectl", env);
  if (!path) return undefined;
  const answer = spawnSync(path, ["version", "--client"], {
    env: { ...env },
    encoding: "utf8",
    timeout: kubectlAnswerMs,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const minor = /\bv1\.(\d+)\./.exec(answer.stdout ?? "")?.[1];
  return Number(minor) >= oldestKubectlMinor ? path : undefined;
};

/**
 * @param {ControlPlaneProgram} name
 * @param {Environment} env
 */
const locateControlPlaneProgram = (name, env) => {
  const assets = givenAssets(env);
  if (assets) return resolve(assets, name);
  const cached = locateCachedProgram(name, env);
  if (cached) return cached;
  return name === "kubectl" ? kubectlOnPath(env) : undefined;
};

/**
 * A program of the system: from the environment variable `override` (undefined when it names no program), else from PATH.
 * @param {SystemProgram} name
 * @param {Environment} env
 * @param {string} [override]
 */
const locateSystemProgram = (name, env, override) => {
  const given = override && env[override];
  if (given) return isProgram(resolve(given)) ? resolve(given) : undefined;
  return findOnPath(name, env);
};

/** @param {"browser" | "shell"} kind @param {Environment} env */
const chromiumBesidePath = (kind, env) =>
  chromiumPlaces({ platform: process.platform, home: env.HOME || homedir() }, kind)
    .flatMap(pathsOf)
    .find(isProgram);

/**
 * A whole browser, and the program of headless pools, which is the same one where there is no chrome-headless-shell.
 * @param {Environment} env
 */
const locateChromium = (env) => {
  const chromium =
    locateSystemProgram("chromium", env, "BROWSERPOOL_CHROMIUM") ??
    (env.BROWSERPOOL_CHROMIUM
      ? undefined
      : (chromiumNames.map((name) => findOnPath(name, env)).find(Boolean) ?? chromiumBesidePath("browser", env)));
  const shell = locateSystemProgram("chromium-headless-shell", env, "BROWSERPOOL_CHROMIUM_HEADLESS");
  if (shell || env.BROWSERPOOL_CHROMIUM_HEADLESS) return { chromium, "chromium-headless-shell": shell };
  return { chromium, "chromium-headless-shell": chromiumBesidePath("shell", env) ?? chromium };
};

/**
 * Absolute path of every program; undefined when it is missing. Reads the disk on each call.
 * Control plane: `KUBEBUILDER_ASSETS`, the cache, and only for kubectl PATH (1.35 or newer). Programs of tests and checks: the
 * cache. The others: `BROWSERPOOL_REDIS_SERVER`,
 * `BROWSERPOOL_CHROMIUM`, `BROWSERPOOL_CHROMIUM_HEADLESS`, `BROWSERPOOL_CHROMEDRIVER`, then PATH; Chromium also where
 * others install it.
 * @param {Environment} [env]
 * @returns {Programs}
 */
export const locatePrograms = (env = process.env) => ({
  etcd: locateControlPlaneProgram("etcd", env),
  "kube-apiserver": locateControlPlaneProgram("kube-apiserver", env),
  kubectl: locateControlPlaneProgram("kubectl", env),
  "redis-server": locateSystemProgram("redis-server", env, "BROWSERPOOL_REDIS_SERVER"),
  ...locateChromium(env),
  Xvfb: locateSystemProgram("Xvfb", env),
  socat: locateSystemProgram("socat", env),
  ip: locateSystemProgram("ip", env),
  bwrap: locateSystemProgram("bwrap", env),
  ffmpeg: locateSystemProgram("ffmpeg", env),
  chromedriver: locateSystemProgram("chromedriver", env, "BROWSERPOOL_CHROMEDRIVER"),
  faketime: locateSystemProgram("faketime", env),
  toxiproxy: locateCachedProgram("toxiproxy", env),
  linearizability: locateCachedProgram("linearizability", env),
  versitygw: locateCachedProgram("versitygw", env),
  otelcol: locateCachedProgram("otelcol", env),
  "gitops-health": locateCachedProgram("gitops-health", env),
  "vault-server": locateCachedProgram("vault-server", env),
  helm: locateCachedProgram("helm", env),
  kind: locateCachedProgram("kind", env),
  "helm-unittest": locateCachedProgram("helm-unittest", env),
  kubeconform: locateCachedProgram("kubeconform", env),
  actionlint: locateCachedProgram("actionlint", env),
  crane: locateCachedProgram("crane", env),
  cosign: locateCachedProgram("cosign", env),
  registry: locateCachedProgram("registry", env),
  krew: locateCachedProgram("krew", env),
  "validate-krew-manifest": locateCachedProgram("validate-krew-manifest", env),
  promtool: locateCachedProgram("promtool", env),
});
