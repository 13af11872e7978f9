import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { cacheDir, findOnPath } from "../../src/local/locate-programs.mjs";
import { canInstallDebianPackages, installDebianPackages } from "./debian-packages.mjs";
import { SetupError } from "./setup-error.mjs";

/** The Go version to fetch when the machine's Go is too old. */
const pinnedGo = "1.26.8";

/** Node's architecture names → Go's. @type {{ [arch: string]: string }} */
const architectures = { x64: "amd64", arm64: "arm64" };

export const withoutGo =
  "Install Go 1.24 or newer, or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl. Then run again.";

/** Memory below which the compiler collects its garbage as usual, bytes. */
const roomyBytes = 8 * 2 ** 30;

/**
 * The Go compiler spends a sixth of its time on garbage that ends with it a second later. With enough memory it keeps
 * all of it, up to a bound for each of the compilers that run at a time.
 */
const compilerMemory = () => {
  const perCompiler = Math.floor(totalmem() / 2 / availableParallelism());
  return totalmem() < roomyBytes ? {} : { GOGC: "off", GOMEMLIMIT: `${perCompiler}B` };
};

/**
 * The environment of the go command: go changes no module files, checks every module against go.sum, and never switches to
 * another version of itself.
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 */
export const goEnvironment = (env) => ({
  ...env,
  ...compilerMemory(),
  CGO_ENABLED: "0",
  GOFLAGS: "-mod=readonly",
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
 * Makes an unpacked toolchain module executable, as the go command does (cmd/go/internal/toolchain): modules keep no execute
 * permission, and below the root they hold `_go.mod` in the place of go.mod.
 * @param {string} folder
 */
const enable = (folder) => {
  const tools = join(folder, "pkg", "tool");
  const binaries = [join(folder, "bin"), ...readdirSync(tools).map((name) => join(tools, name))];
  for (const file of binaries.flatMap((path) => readdirSync(path).map((name) => join(path, name))))
    if (statSync(file).isFile()) chmodSync(file, 0o755);
  const source = join(folder, "src");
  if (existsSync(join(source, "go.mod"))) return;
  const mode = statSync(source).mode;
  chmodSync(source, mode | 0o200); // the module cache is read-only
  copyFileSync(join(source, "_go.mod"), join(source, "go.mod"));
  chmodSync(source, mode);
};

/**
 * Fetches the pinned Go as a module with an older go command, which checks it against Go's checksum database.
 * @param {string} older
 * @param {GoDeps} deps
 */
const fetchGo = async (older, { env, run, progress }) => {
  const system = `${process.platform}-${architectures[process.arch] ?? process.arch}`;
  const module = `golang.org/toolchain@v0.0.1-go${pinnedGo}.${system}`;
  const cwd = cacheDir(env); // outside the repository, so that no go.mod applies
  mkdirSync(cwd, { recursive: true });
  const answer = await progress.step({ title: `fetching Go ${pinnedGo} as a module` }, () =>
    run({
      command: older,
      args: ["mod", "download", "-json", module],
      cwd,
      env: { ...goEnvironment(env), GOFLAGS: "" },
      wayOut: `See whether the go command reaches its module proxy (go env GOPROXY), then run again. Or: ${withoutGo}`,
    }),
  );
  const { Dir: folder } = JSON.parse(answer);
  enable(folder);
  return join(folder, "bin", "go");
};

/**
 * @typedef {object} GoDeps
 * @property {import("../../src/local/locate-programs.mjs").Environment} env
 * @property {import("./run-tool.mjs").RunTool} run
 * @property {import("./progress.mjs").Progress} progress
 */

/**
 * The path of a go command that can build the modules in `folders`: the one on PATH when it is new enough, else the pinned
 * one, fetched by the one on PATH. On a machine without Go, it first installs Debian's package.
 * @param {readonly string[]} folders each with a go.mod
 * @param {GoDeps} deps
 */
export const provideGo = async (folders, deps) => {
  const { env, run } = deps;
  if (!findOnPath("go", env)) {
    if (!canInstallDebianPackages(env)) throw new SetupError("Go is missing", { wayOut: withoutGo });
    await installDebianPackages(["go"], deps);
  }
  const go = findOnPath("go", env);
  if (!go) throw new SetupError("Go is missing", { wayOut: withoutGo });
  const answer = await run({ command: go, args: ["env", "GOVERSION"], env: goEnvironment(env), wayOut: withoutGo });
  const version = answer.trim();
  return folders.every((folder) => isAtLeast(version, neededGo(folder))) ? go : await fetchGo(go, deps);
};
