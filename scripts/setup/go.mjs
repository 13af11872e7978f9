import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { cacheDir, findOnPath, isProgram } from "../../src/local/locate-programs.mjs";
import { nodeProgram } from "./packages.mjs";
import { SetupError } from "./setup-error.mjs";

/** The Go version to fetch when the machine has none, or an older one than a module needs. */
const pinnedGo = "1.26.8";

/** Of this Go as a module, in Go's checksum database (sum.golang.org), by system. @type {{ [system: string]: string }} */
const sums = {
  "linux-amd64": "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=",
  "linux-arm64": "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=",
  "darwin-amd64": "h1:7/9KPPN8PckcA9s91hm2jmQMhzW4KyTJXHIs45L0C9M=",
  "darwin-arm64": "h1:dFjGhY6f8DTsY8/rLchUTDRRfjJP4pCrGCwxvHFT2Fg=",
};

/** Node's architecture names → Go's. @type {{ [arch: string]: string }} */
const architectures = { x64: "amd64", arm64: "arm64" };

export const withoutGo =
  "Install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl. Then run again.";

/** Memory below which the compiler collects its garbage as usual, bytes. */
const roomyBytes = 8 * 2 ** 30;

/**
 * The Go compiler spends a sixth of its time on garbage that ends with it a second later. With enough memory it keeps
 * all of it, up to a bound for each of the compilers that run at a time.
 */
const compilerMemory = () => {
  // A container may have less than its machine; without a limit this is 0, or more than there is.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const perCompiler = Math.floor(memory / 2 / availableParallelism());
  return memory < roomyBytes ? {} : { GOGC: "off", GOMEMLIMIT: `${perCompiler}B` };
};

/**
 * The environment of the go command: go changes no module files, checks every module against go.sum, never switches to
 * another version of itself, and keeps in our cache what it gets and compiles, where `rm -r` can remove it.
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 */
export const goEnvironment = (env) => ({
  ...env,
  ...compilerMemory(),
  CGO_ENABLED: "0",
  GOFLAGS: "-mod=readonly -modcacherw",
  GOCACHE: env.GOCACHE || join(cacheDir(env), "go-build"),
  GOMODCACHE: env.GOMODCACHE || join(cacheDir(env), "go-modules"),
  GOTOOLCHAIN: "local",
  GOWORK: "off",
  GOROOT: undefined,
});

/** "go1.24.3" → [1, 24, 3]. @param {string} version */
const numbers = (version) =>
  version
    .replace(/^go/, "")
    .split(".")
    .map((part) => Number.parseInt(part, 10) || 0);

/** Whether Go `version` is `oldest` or newer. @param {string} version @param {string} oldest */
export const isAtLeast = (version, oldest) => {
  const [a, b] = [numbers(version), numbers(oldest)];
  const different = [0, 1, 2].find((i) => (a[i] ?? 0) !== (b[i] ?? 0));
  return different === undefined || (a[different] ?? 0) > (b[different] ?? 0);
};

/** The oldest Go version that can build the module in `folder`. @param {string} folder */
const neededGo = (folder) => /^go (\S+)$/m.exec(readFileSync(join(folder, "go.mod"), "utf8"))?.[1] ?? pinnedGo;

/**
 * The pinned Go of the cache, fetched when it is not there yet.
 * @param {GoDeps} deps
 */
const pinnedGoOf = async ({ root, env, run, progress, whenPackages }) => {
  const folder = join(cacheDir(env), `go-${pinnedGo}`);
  const go = join(folder, "bin", "go");
  if (isProgram(go)) return go;
  const system = `${process.platform}-${architectures[process.arch] ?? process.arch}`;
  const sum = sums[system];
  if (!sum) throw new SetupError(`Go is missing, and there is none for ${system}`, { wayOut: withoutGo });
  await whenPackages();
  await progress.step({ title: `fetching Go ${pinnedGo} as a module` }, () =>
    run({
      command: nodeProgram(root),
      args: [join(root, "scripts/setup/fetch-go.mjs"), pinnedGo, system, sum, folder],
      env: { ...env, NODE_USE_ENV_PROXY: "1" },
      wayOut: `See whether a module proxy is reached (GOPROXY, HTTPS_PROXY), then run again. Or: ${withoutGo}`,
    }),
  );
  return go;
};

/**
 * @typedef {object} GoDeps
 * @property {string} root of the repository
 * @property {import("../../src/local/locate-programs.mjs").Environment} env
 * @property {import("./run-tool.mjs").RunTool} run
 * @property {import("./progress.mjs").Progress} progress
 * @property {() => Promise<unknown>} whenPackages resolves when npm's packages are there, or can't be
 */

/**
 * The path of a go command that can build the modules in `folders`: the one on PATH when it is new enough, else the
 * pinned one.
 * @param {readonly string[]} folders each with a go.mod
 * @param {GoDeps} deps
 */
export const provideGo = async (folders, deps) => {
  const { env, run } = deps;
  const go = findOnPath("go", env);
  if (!go) return pinnedGoOf(deps);
  const answer = await run({ command: go, args: ["env", "GOVERSION"], env: goEnvironment(env), wayOut: withoutGo });
  const version = answer.trim();
  return folders.every((folder) => isAtLeast(version, neededGo(folder))) ? go : pinnedGoOf(deps);
};
