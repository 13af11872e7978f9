import { execFile } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { cachedProgram } from "../run-program.ts";

const run = promisify(execFile);

/** Runs a program and resolves with what it printed on stdout. */
export type Tool = (...args: string[]) => Promise<string>;

/** The public programs that a release is made and verified with. */
export type Tools = Record<
  "crane" | "cosign" | "helm" | "validate-krew-manifest" | "git" | "npm" | "node" | "tar",
  Tool
> & {
  /** krew that installs into `root`, or what it has installed there. */
  krewAt(root: string, program?: string): Tool;
};

/** `folder`: where they run; `signal`: ends them. */
export const createTools = (folder: string, signal: AbortSignal): Tools => {
  const tool =
    (path: string, env = process.env): Tool =>
    async (...args) => {
      const { stdout } = await run(path, args, { cwd: folder, signal, env, maxBuffer: 256 * 1024 * 1024 });
      return stdout.trim();
    };
  return {
    crane: tool(cachedProgram("crane")),
    cosign: tool(cachedProgram("cosign")),
    helm: tool(cachedProgram("helm")),
    "validate-krew-manifest": tool(cachedProgram("validate-krew-manifest")),
    krewAt: (root, program = cachedProgram("krew")) =>
      tool(program, {
        ...process.env,
        ...{ KREW_ROOT: root, KREW_NO_UPGRADE_CHECK: "1" },
        PATH: [join(root, "bin"), dirname(process.execPath), process.env.PATH].join(delimiter),
      }),
    git: tool("git"),
    npm: tool("npm"),
    node: tool(process.execPath),
    tar: tool("tar"),
  };
};
