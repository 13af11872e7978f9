import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { type CachedProgram, locatePrograms } from "../src/local/locate-programs.mjs";
import { root } from "./generated-file.ts";

/** A program that this machine doesn't have and the set-up could not install. The check skips what needs it. */
export class MissingProgram extends Error {
  override name = "MissingProgram";
}

/** The path of a program that the set-up installs. Throws a `MissingProgram`. */
export const cachedProgram = (name: CachedProgram): string => {
  const path = locatePrograms()[name];
  if (!path) throw new MissingProgram(`${name} is missing; \`node scripts/setup.mjs --check\` says why`);
  return path;
};

export type Ended = { code: number | null; stdout: string; stderr: string };

/** Runs a program in the repository's root with `input` on stdin. Rejects only when it can't be started. */
export const runProgram = async (path: string, args: readonly string[], input = ""): Promise<Ended> => {
  const child = spawn(path, args, { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  child.stdin.on("error", () => undefined); // EPIPE when it ends before it has read all input; its exit code tells
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
};

/** Returns what a program prints on stdout. Rejects with all its output when it fails. */
export const outputOf = async (path: string, args: readonly string[], input?: string): Promise<string> => {
  const { code, stdout, stderr } = await runProgram(path, args, input);
  if (code !== 0) throw new Error(`${stdout}${stderr}`.trim() || `${path} ended with ${code}`);
  return stdout;
};
