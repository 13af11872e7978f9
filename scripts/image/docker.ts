import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { isProgram } from "../../src/local/locate-programs.mjs";

/** Runs docker and resolves with what it has printed. */
export type Docker = (...args: string[]) => Promise<string>;

/** Rejects when docker's daemon does not answer. */
export const requireDaemon = async (docker: Docker): Promise<void> => {
  await docker("version").catch((cause: unknown) => {
    throw new Error("docker does not answer: start its daemon, and let this user reach it", { cause });
  });
};

/** The first major version of docker that needs the plugin buildx for BuildKit; earlier ones have BuildKit built in. */
const buildxNeededSince = 23;

const answerOf = (command: string, ...args: string[]): string | undefined => {
  const { status, stdout } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
};

const hasBuildKit = (docker: string): boolean => {
  if (answerOf(docker, "buildx", "version") !== undefined) return true;
  const major = Number.parseInt(answerOf(docker, "--version")?.match(/version (\d+)/)?.[1] ?? "", 10);
  return major < buildxNeededSince;
};

/**
 * Finds the first docker command in PATH that can build with BuildKit; a machine can have several. Call it with
 * DOCKER_BUILDKIT=1. Throws when no command can.
 */
export const dockerWithBuildKit = (path: string): string => {
  const commands = path
    .split(delimiter)
    .map((folder) => join(folder, "docker"))
    .filter(isProgram);
  if (commands.length === 0) throw new Error("docker is missing");
  const able = commands.find(hasBuildKit);
  if (!able) throw new Error("docker has no BuildKit: install its plugin buildx (on Debian 13: docker-buildx)");
  return able;
};
