/** What only some slow tests need, and the first one that does installs, into the cache of the set-up. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "../../scripts/setup/lock.mjs";
import { createProgress } from "../../scripts/setup/progress.mjs";
import { createToolRunner, type RunTool } from "../../scripts/setup/run-tool.mjs";
import { SetupError } from "../../scripts/setup/setup-error.mjs";
import { cacheDir } from "../../src/local/locate-programs.mjs";

/** Deadline of an installation, another one's on this machine before it included, ms. It takes seconds to minutes. */
const installMs = 20 * 60_000;

const root = join(import.meta.dirname, "../..");
const { env } = process;

/** What an installation works with. */
export type InstallDeps = {
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
export const installed = async (
  name: string,
  locate: () => string | undefined,
  install: (deps: InstallDeps) => Promise<void>,
): Promise<string | undefined> => {
  if (locate()) return locate();
  const cache = cacheDir(env);
  mkdirSync(cache, { recursive: true });
  const progress = createProgress(process.stderr);
  const signal = AbortSignal.timeout(installMs);
  const onWait = (pid: string): void => progress.say(`process ${pid} installs programs of tests; waiting for it`);
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
