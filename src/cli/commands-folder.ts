/**
 * `<data-dir>/bin`, which `browserpool env` puts on PATH: `browserpool` itself, and a kubectl for people who have none.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { locatePrograms } from "../local/locate-programs.mjs";
import { quoted } from "../local/quoted.ts";
import type { Variables } from "../platform/base/environment.ts";

type Places = { dataDir: string /** The file that runs the commands. */; main: string; env: Readonly<Variables> };

/** The set-up of a clone; an image has none. */
const setupOf = async (main: string): Promise<string | undefined> => {
  const path = join(dirname(main), "../scripts/setup.mjs");
  return access(path).then(
    () => path,
    () => undefined,
  );
};

/** Fills the folder. Returns whether there is a kubectl. */
export const writeCommands = async ({ dataDir, main, env }: Places): Promise<boolean> => {
  const folder = join(dataDir, "bin");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const command = `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(main)} "$@"\n`;
  await writeFile(join(folder, "browserpool"), command, { mode: 0o755 });
  const { kubectl } = locatePrograms(env);
  if (kubectl) await symlink(kubectl, join(folder, "kubectl"));
  return kubectl !== undefined;
};

/**
 * Gets a kubectl for a machine without one, after everything else of this machine. Resolves when it is there, can't be got,
 * or `signal` is aborted; the next start then goes on.
 */
export const getKubectl = async ({ dataDir, main, env }: Places, signal: AbortSignal): Promise<void> => {
  const setup = await setupOf(main);
  if (!setup || signal.aborted) return;
  const child = spawn("nice", ["-n", "19", process.execPath, setup, "--kubectl"], { stdio: "ignore", env });
  const stop = (): void => void child.kill();
  signal.addEventListener("abort", stop, { once: true });
  const ended = await once(child, "exit").catch(() => undefined);
  signal.removeEventListener("abort", stop);
  if (ended?.[0] === 0) await writeCommands({ dataDir, main, env });
};
