/** What the compiler and the linter say of a copy of the tree. */
import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Tree } from "../tree.ts";

/** Folders of scripts that run in pages, each with a configuration of the compiler of its own. */
const pageFolders = [
  "src/features/telemetry/agent/in-page",
  "src/features/vaults/fill/in-page",
  "src/features/live-view/in-page",
];

const typeError = /^(\S.*?)\(\d+,\d+\): error /;
const lintError = /^::error .*?\bfile=([^,]+)/;

/**
 * The files, by path in the tree, that a program names in lines of this pattern. Rejects when it fails and names none.
 */
const filesNamed = async (
  { folder }: Tree,
  { program, args, line, signal }: { program: string; args: readonly string[]; line: RegExp; signal: AbortSignal },
): Promise<string[]> => {
  const path = join(folder, "node_modules/.bin", program);
  const child = spawn(path, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], signal });
  const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const named = stdout.split("\n").flatMap((one) => line.exec(one)?.[1] ?? []);
  if (code !== 0 && named.length === 0) throw new Error(`${program} failed: ${(stdout + stderr).slice(0, 2000)}`);
  // One names them from the root, the other from the tree.
  return named.map((file) => relative(folder, resolve(folder, file)));
};

const withTypeErrors = async (tree: Tree, project: string, signal: AbortSignal): Promise<string[]> => {
  // What did not change since the last batch is not checked again.
  const known = join(tree.folder, ".browserpool/types", `${project.replaceAll("/", "-")}.tsbuildinfo`);
  await mkdir(dirname(known), { recursive: true });
  const args = ["-p", project, "--pretty", "false", "--incremental", "--tsBuildInfoFile", known];
  return filesNamed(tree, { program: "tsc", args, line: typeError, signal });
};

const withLintErrors = (tree: Tree, files: readonly string[], signal: AbortSignal): Promise<string[]> => {
  const args = ["lint", "--reporter=github", "--max-diagnostics=none", "--diagnostic-level=error", ...files];
  return filesNamed(tree, { program: "biome", args, line: lintError, signal });
};

/**
 * The files of the tree in which the compiler finds an error, and those of `files` in which the linter does. All by
 * path in the tree.
 */
export const complaints = async (tree: Tree, files: readonly string[], signal: AbortSignal): Promise<Set<string>> => {
  const scripts = files.filter((file) => !file.endsWith(".lua"));
  const pages = pageFolders.filter((folder) => scripts.some((file) => file.startsWith(`${folder}/`)));
  const found = await Promise.all([
    ...[".", ...pages].map((project) => withTypeErrors(tree, project, signal)),
    ...(scripts.length === 0 ? [] : [withLintErrors(tree, scripts, signal)]),
  ]);
  return new Set(found.flat());
};
