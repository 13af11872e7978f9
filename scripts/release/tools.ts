import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { cachedProgram } from "../run-program.ts";

const run = promisify(execFile);

/** Runs a program and resolves with what it printed on stdout. */
export type Tool = (...args: string[]) => Promise<string>;

/** The public programs that a release is made and verified with. */
export type Tools = { crane: Tool; cosign: Tool; helm: Tool; git: Tool; npm: Tool; node: Tool };

/** `folder`: where they run; `signal`: ends them. */
export const createTools = (folder: string, signal: AbortSignal): Tools => {
  const tool =
    (path: string): Tool =>
    async (...args) => {
      const { stdout } = await run(path, args, { cwd: folder, signal, maxBuffer: 256 * 1024 * 1024 });
      return stdout.trim();
    };
  return {
    crane: tool(cachedProgram("crane")),
    cosign: tool(cachedProgram("cosign")),
    helm: tool(cachedProgram("helm")),
    git: tool("git"),
    npm: tool("npm"),
    node: tool(process.execPath),
  };
};
