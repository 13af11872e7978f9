/**
 * The public clients that tests run unchanged, from `tools/npm-clients` and `tools/browser-use`. They have hundreds of
 * packages that nothing else needs, so the first test that needs them installs them, into the cache of the set-up.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callNpm } from "../../scripts/setup/packages.mjs";
import { installPython, locatePython } from "../../scripts/setup/python-environments.mjs";
import { cacheDir } from "../../src/local/locate-programs.mjs";
import { type InstallDeps, installed } from "../support/installed.ts";

const root = join(import.meta.dirname, "../..");
const { env } = process;

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
const installNpmClients = async ({ run, progress }: InstallDeps): Promise<void> => {
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
