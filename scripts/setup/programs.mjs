import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join } from "node:path";
import {
  builtVersions,
  cachedProgramPath,
  checkProgramVersions,
  clusterProgramVersions,
  gitOpsProgramVersions,
  pinnedVersions,
  receiverProgramVersions,
  releaseProgramVersions,
  serverPrograms,
  storeProgramVersions,
  testProgramVersions,
  vaultProgramVersions,
} from "../../src/local/locate-programs.mjs";
import { downloadArchive, officialArchive } from "./download.mjs";
import { goEnvironment, provideGo, withoutGo } from "./go.mjs";

/** @typedef {import("../../src/local/locate-programs.mjs").CachedProgram} CachedProgram */

const versions = {
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

const [major, minor] = pinnedVersions.kubectl.slice(1).split(".");

/** Linker flags that set variables, by full name. @param {{ [name: string]: string | undefined }} variables */
const stamp = (variables) =>
  Object.entries(variables)
    .map(([name, value]) => `-X ${name}=${value}`)
    .join(" ");

/** Kubernetes' own build stamps these in; the API server and kubectl read their version from them. */
const kubernetesStamp = stamp({
  "k8s.io/component-base/version.gitVersion": pinnedVersions.kubectl,
  "k8s.io/component-base/version.gitMajor": major,
  "k8s.io/component-base/version.gitMinor": minor,
});

/**
 * Helm's own build stamps in the Kubernetes version to render for when there is no cluster. Without the stamp it is
 * 1.20.
 */
const helmStamp = stamp({
  "helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor": major,
  "helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor": minor,
  "helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor": major,
  "helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor": minor,
});

/** @typedef {Exclude<CachedProgram, typeof serverPrograms[number]>} BuiltProgram */

/**
 * What is built for a program: one for both servers, so that what they share is compiled and linked once.
 * @param {CachedProgram} name @returns {BuiltProgram}
 */
const builtFor = (name) => (name === "etcd" || name === "kube-apiserver" ? "control-plane" : name);

/** Without inlining and debug information a compiler works three quarters of the time, and the program starts as fast. */
const quick = ["-gcflags=all=-l -dwarf=false"];

/**
 * How to build each program: the folder of its go.mod below `tools/`, the Go package, and the time that a build from
 * scratch takes on a machine with two processors, s.
 * @type {{ [name in BuiltProgram]: { folder: string, package: string, flags?: string[], stamp?: string, seconds: number } }}
 */
const builds = {
  "control-plane": { folder: "control-plane", package: ".", flags: quick, stamp: kubernetesStamp, seconds: 190 },
  kubectl: {
    folder: "control-plane",
    package: "k8s.io/kubernetes/cmd/kubectl",
    flags: quick,
    stamp: kubernetesStamp,
    seconds: 40,
  },
  toxiproxy: {
    folder: "toxiproxy",
    package: "github.com/Shopify/toxiproxy/v2/cmd/server",
    seconds: 10,
  },
  linearizability: { folder: "linearizability", package: ".", seconds: 5 },
  versitygw: {
    folder: "versitygw",
    package: "github.com/versity/versitygw/cmd/versitygw",
    seconds: 60,
  },
  otelcol: { folder: "otelcol", package: ".", seconds: 60 },
  "gitops-health": { folder: "gitops-health", package: ".", flags: quick, seconds: 50 },
  // Other tests run beside this build, so it takes one processor.
  "vault-server": { folder: "vault-server", package: ".", flags: [...quick, "-p=1"], seconds: 160 },
  helm: {
    folder: "helm",
    package: "helm.sh/helm/v3/cmd/helm",
    stamp: `${helmStamp} ${stamp({ "helm.sh/helm/v3/internal/version.version": checkProgramVersions.helm })}`,
    seconds: 90,
  },
  "helm-unittest": {
    folder: "helm-unittest",
    package: "github.com/helm-unittest/helm-unittest/cmd/helm-unittest",
    stamp: helmStamp,
    seconds: 60,
  },
  kubeconform: {
    folder: "kubeconform",
    package: "github.com/yannh/kubeconform/cmd/kubeconform",
    seconds: 10,
  },
  promtool: {
    folder: "promtool",
    package: "github.com/prometheus/prometheus/cmd/promtool",
    // Without the clients of all clouds, which it would only find targets with.
    flags: [...quick, "-tags=remove_all_sd"],
    seconds: 110,
  },
  kind: { folder: "kind", package: "sigs.k8s.io/kind", seconds: 10 },
  actionlint: { folder: "actionlint", package: "github.com/rhysd/actionlint/cmd/actionlint", seconds: 10 },
  crane: { folder: "crane", package: "github.com/google/go-containerregistry/cmd/crane", seconds: 25 },
  cosign: { folder: "cosign", package: "github.com/sigstore/cosign/v3/cmd/cosign", seconds: 240 },
  registry: { folder: "registry", package: "github.com/distribution/distribution/v3/cmd/registry", seconds: 80 },
  krew: { folder: "krew", package: "sigs.k8s.io/krew/cmd/krew", seconds: 20 },
  "validate-krew-manifest": { folder: "krew", package: "sigs.k8s.io/krew/cmd/validate-krew-manifest", seconds: 5 },
};

/**
 * Lets `make` write a temporary file and renames it to `target` when it is complete, so that no process sees a part of a program.
 * @param {string} target
 * @param {(part: string) => Promise<unknown>} make
 */
const install = async (target, make) => {
  const part = join(dirname(target), `.${basename(target)}.${process.pid}.part`);
  mkdirSync(dirname(target), { recursive: true });
  try {
    await make(part);
    chmodSync(part, 0o755);
    renameSync(part, target);
  } finally {
    rmSync(part, { force: true });
  }
};

/**
 * @typedef {object} ProgramDeps
 * @property {string} root of the repository
 * @property {import("../../src/local/locate-programs.mjs").Environment} env
 * @property {import("./run-tool.mjs").RunTool} run
 * @property {import("./progress.mjs").Progress} progress
 * @property {AbortSignal} signal
 * @property {() => Promise<unknown>} whenPackages resolves when npm's packages are there, or can't be
 */

/**
 * @param {CachedProgram} name
 * @param {ProgramDeps} deps
 */
const download = async (name, { env, run, signal }) => {
  const archive = officialArchive(name, env);
  if (!archive) throw new Error(`${name} has no download`);
  await install(cachedProgramPath(name, env), async (part) => {
    const { member } = archive;
    if (!member) return await downloadArchive(archive, part, signal);
    const packed = `${part}.tar.gz`;
    const unpacked = `${part}.d`;
    try {
      await downloadArchive(archive, packed, signal);
      mkdirSync(unpacked);
      await run({ command: "tar", args: ["-xzf", packed, "-C", unpacked, member], env, wayOut: withoutGo });
      renameSync(join(unpacked, member), part);
    } finally {
      rmSync(packed, { force: true });
      rmSync(unpacked, { recursive: true, force: true });
    }
  });
};

/**
 * Downloads what has an official archive, all at once, and prints why a download failed. The set-up then builds that program.
 * @param {readonly CachedProgram[]} names
 * @param {ProgramDeps} deps
 * @returns {Promise<CachedProgram[]>} the programs that are still missing
 */
const downloadAll = async (names, deps) => {
  const possible = names.filter((name) => officialArchive(name, deps.env));
  if (possible.length === 0) return [...names];
  /** @type {CachedProgram[]} */
  const failed = [];
  let reason = "";
  const attempts = () =>
    Promise.all(
      possible.map((name) =>
        download(name, deps).catch((error) => {
          failed.push(name);
          reason = error.cause?.message ?? error.message;
        }),
      ),
    );
  await deps.progress.step(
    {
      title: `downloading ${possible.join(", ")}`,
      tell: () =>
        failed.length > 0 ? `${failed.join(", ")} can't be downloaded (${reason}): building instead` : undefined,
    },
    attempts,
  );
  deps.signal.throwIfAborted();
  return names.filter((name) => failed.includes(name) || !possible.includes(name));
};

/** How long it takes to build these programs, s. @param {readonly CachedProgram[]} names */
export const buildSeconds = (names) => {
  const seconds = [...new Set(names.map(builtFor))].reduce((sum, name) => sum + builds[name].seconds, 0);
  return Math.ceil((seconds * 2) / Math.max(availableParallelism(), 2) / 10) * 10;
};

/** @param {BuiltProgram} name @param {string} root */
const moduleFolder = (name, root) => join(root, "tools", builds[name].folder);

/**
 * Puts links to the program of the control plane where its two programs are looked for.
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 */
const linkControlPlane = async (env) => {
  const target = basename(cachedProgramPath("control-plane", env));
  for (const name of serverPrograms)
    await install(cachedProgramPath(name, env), async (part) => symlinkSync(target, part));
};

/**
 * @param {BuiltProgram} name
 * @param {string} go path of the go command
 * @param {ProgramDeps} deps
 */
const build = async (name, go, { root, env, run, progress }) => {
  const { package: goPackage, flags = [], stamp = "" } = builds[name];
  await progress.step({ title: `building ${name} ${versions[name]} from Go modules` }, () =>
    install(cachedProgramPath(name, env), (part) =>
      run({
        command: go,
        args: [
          "build",
          "-trimpath",
          "-buildvcs=false",
          ...flags,
          "-ldflags",
          `-s -w ${stamp}`.trim(),
          "-o",
          part,
          goPackage,
        ],
        cwd: moduleFolder(name, root),
        env: goEnvironment(env),
        wayOut:
          "See the log (is the Go module proxy reachable, and are 4 GB of disk free?), then run again: the set-up\n" +
          "keeps what it has built. Or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl.",
      }),
    ),
  );
};

/** Removes unfinished files of killed set-ups. Only the holder of the lock may call it. @param {string} folder */
const removeParts = (folder) => {
  const left = existsSync(folder) ? readdirSync(folder).filter((name) => name.includes(".part")) : [];
  for (const name of left) rmSync(join(folder, name), { recursive: true, force: true });
};

/** @param {readonly CachedProgram[]} names @param {ProgramDeps} deps */
const buildAll = async (names, deps) => {
  const wanted = [...new Set(names.map(builtFor))];
  const go = await provideGo(
    wanted.map((name) => moduleFolder(name, deps.root)),
    deps,
  );
  for (const name of wanted) {
    await build(name, go, deps);
    if (name === "control-plane") await linkControlPlane(deps.env);
  }
};

/**
 * Installs the programs in the cache: by download where possible, else built from Go modules. Each finished program is kept,
 * so the next run continues with the rest.
 * @param {readonly CachedProgram[]} names
 * @param {ProgramDeps} deps
 */
export const installPrograms = async (names, deps) => {
  for (const name of names) removeParts(dirname(cachedProgramPath(name, deps.env)));
  const missing = await downloadAll(names, deps);
  if (missing.length > 0) await buildAll(missing, deps);
};
