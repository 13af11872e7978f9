/**
 * The public clients that tests run unchanged, from `tools/npm-clients` and `tools/browser-use`. They have hundreds of
 * packages that nothing else needs, so the first test that needs them installs them, into the cache of the set-up.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "../../scripts/setup/lock.mjs";
import { callNpm } from "../../scripts/setup/packages.mjs";
import { createProgress } from "../../scripts/setup/progress.mjs";
import { installPython, locatePython } from "../../scripts/setup/python-environments.mjs";
import { createToolRunner, type RunTool } from "../../scripts/setup/run-tool.mjs";
import { SetupError } from "../../scripts/setup/setup-error.mjs";
import { cacheDir } from "../../src/local/locate-programs.mjs";

/** Deadline of an installation, another one's on this machine before it included, ms. It takes 10 to 20 s. */
const installMs = 10 * 60_000;

const root = join(import.meta.dirname, "../..");
const { env } = process;

type Deps = {
  root: string;
  env: NodeJS.ProcessEnv;
  run: RunTool;
  progress: ReturnType<typeof createProgress>;
  signal: AbortSignal;
};

/**
 * Where something is, after an installation if it has to be; undefined where that fails, which is said on stderr.
 * `locate`: undefined while it is not there.
 */
const installed = async (
  name: string,
  locate: () => string | undefined,
  install: (deps: Deps) => Promise<void>,
): Promise<string | undefined> => {
  if (locate()) return locate();
  const cache = cacheDir(env);
  mkdirSync(cache, { recursive: true });
  const progress = createProgress(process.stderr);
  const signal = AbortSignal.timeout(installMs);
  const onWait = (pid: string): void => progress.say(`process ${pid} installs clients; waiting for it`);
  const unlock = await takeLock(join(cache, "clients.lock"), { signal, onWait });
  try {
    const logFile = join(cache, `setup-${name}.log`);
    writeFileSync(logFile, "", { mode: 0o600 });
    if (!locate()) await install({ root, env, progress, signal, run: createToolRunner({ logFile, signal }) });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    progress.say(`going on without ${name}: ${error.message}. ${error.wayOut}`);
  } finally {
    unlock();
  }
  return locate();
};

const manifest = join(root, "tools/npm-clients");

/** Its name has a digest of the lock file, so an update is a new one. */
const npmFolder = (): string => {
  const lock = readFileSync(join(manifest, "package-lock.json"));
  const digest = createHash("sha256").update(lock).digest("hex").slice(0, 8);
  return join(cacheDir(env), `npm-clients-${digest}`);
};

/** Written last: without it an installation was broken off. */
const markOf = (folder: string): string => join(folder, "complete");

/** Scripts of packages don't run: some download drivers of other browsers. */
const installNpmClients = async ({ run, progress }: Deps): Promise<void> => {
  const folder = npmFolder();
  rmSync(folder, { recursive: true, force: true });
  cpSync(manifest, folder, { recursive: true });
  const args = ["ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"];
  await progress.step({ title: "installing public clients from npm" }, () =>
    callNpm(args, { root, cwd: folder, env, run }),
  );
  writeFileSync(markOf(folder), "");
};

/** The folder whose `node_modules` has the clients from npm. */
export const npmClients = (): Promise<string | undefined> =>
  installed("npm-clients", () => (existsSync(markOf(npmFolder())) ? npmFolder() : undefined), installNpmClients);

/** The Python that has browser-use. */
export const pythonWithBrowserUse = (): Promise<string | undefined> =>
  installed(
    "browser-use",
    () => locatePython("browser-use", root, env),
    (deps) => installPython("browser-use", deps),
  );
