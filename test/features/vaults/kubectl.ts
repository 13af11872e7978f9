import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { sharedServers } from "../../support/control-plane.ts";

type Ran = { code: number | null; out: string; err: string };

/** A shell of a user that works with one namespace through kubectl. */
export type Shell = {
  /** Runs a `sh` script; ends it after a minute. */
  sh(script: string, env?: Record<string, string>): Promise<Ran>;
  /** Runs kubectl and returns its output. Rejects when it fails. */
  kubectl(args: string[], input?: string): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
};

const run = async (
  program: string,
  args: string[],
  options: { env: Record<string, string>; input?: string },
): Promise<Ran> => {
  const child = spawn(program, args, { env: options.env, timeout: 60_000 });
  child.stdin.end(options.input ?? "");
  const [[code], out, err] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
};

export const openShell = async (namespace: string): Promise<Shell> => {
  const folder = await mkdtemp(join(tmpdir(), "browserpool-shell-"));
  const kubeconfig = join(folder, "kubeconfig");
  await copyFile((await sharedServers()).kubeconfigPath, kubeconfig);
  await mkdir(join(folder, "bin"));
  await symlink(locatePrograms(process.env).kubectl ?? "kubectl", join(folder, "bin", "kubectl"));
  const env = {
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    KUBECONFIG: kubeconfig,
    HOME: folder,
    TMPDIR: folder,
  };
  const kubectl = async (args: string[], input = ""): Promise<string> => {
    const { code, out, err } = await run("kubectl", args, { env, input });
    if (code !== 0) throw new Error(err);
    return out;
  };
  await kubectl(["config", "set-context", "--current", `--namespace=${namespace}`]);
  return {
    kubectl,
    sh: (script, more = {}) => run("/bin/sh", ["-euc", script], { env: { ...env, ...more } }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
};
