/**
 * browserless, for comparison, where its package is installed. It takes its dependencies from its own folder alone:
 *
 *     npm install --install-strategy=nested --ignore-scripts @browserless.io/browserless@2.42
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../src/local/free-port.ts";

type Browserless = {
  /** Each connection there has a browser of its own with these flags. */
  urlFor(flags: readonly string[]): string;
  [Symbol.asyncDispose](): Promise<void>;
};

const startMs = 60_000;
const token = "bench";

/** Puts our program where browserless looks for the one of its Playwright, and leaves out routes of other browsers. */
const prepare = async (cwd: string, program: string, env: { ROUTES: string } & NodeJS.ProcessEnv): Promise<void> => {
  const print = "console.log(require('playwright-core').chromium.executablePath())";
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", print], { cwd, env });
  const path = stdout.trim();
  await mkdir(dirname(path), { recursive: true });
  await symlink(program, path);
  await mkdir(env.ROUTES);
  for (const routes of ["chromium", "management"])
    await symlink(join(cwd, "build/routes", routes), join(env.ROUTES, routes));
};

/** Starts the browserless that is installed in a folder. Rejects when it does not answer within a minute. */
export const startBrowserless = async (
  folder: string,
  { program, signal }: { program: string; signal: AbortSignal },
): Promise<Browserless> => {
  await using parts = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), "bench-"));
  parts.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const port = await freePort("127.0.0.1");
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: dataDir,
    PLAYWRIGHT_BROWSERS_PATH: join(dataDir, "programs"),
    ROUTES: join(dataDir, "routes"),
    DEBUG: "-*",
    HOST: "127.0.0.1",
    PORT: String(port),
    TOKEN: token,
    TIMEOUT: "3600000",
  };
  const cwd = join(folder, "node_modules/@browserless.io/browserless");
  await prepare(cwd, program, env);
  const child = spawn(process.execPath, ["build/index.js"], { cwd, env, stdio: "ignore" });
  const exited = once(child, "exit");
  parts.defer(async () => {
    child.kill("SIGTERM");
    await Promise.race([exited, sleep(5000, undefined, { ref: false })]);
    child.kill("SIGKILL");
    await exited;
  });
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(startMs)]);
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/active?token=${token}`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) await sleep(200, undefined, { signal: deadline });
  const kept = parts.move();
  return {
    urlFor(args) {
      const launch = JSON.stringify({ args, ignoreDefaultArgs: true });
      const query = new URLSearchParams({ token, launch, timeout: "3600000" });
      return `ws://127.0.0.1:${port}/chromium?${query}`;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
