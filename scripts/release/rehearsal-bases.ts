import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { baseImages, isPulled } from "../image/base-images.ts";
import { type Docker, requireDaemon } from "../image/docker.ts";
import { ownPlatform } from "../image/image-builder.ts";
import { fillBaseMirror } from "../image/substitutes/base-mirror.ts";
import type { Publication } from "./publication.ts";

const exec = promisify(execFile);

/** The kernel's names of processors that it can have QEMU run programs of. */
const emulated: Record<string, string> = { "linux/arm64": "aarch64", "linux/amd64": "x86_64" };

const runsHere = (platform: string): boolean =>
  platform === ownPlatform || existsSync(`/proc/sys/fs/binfmt_misc/qemu-${emulated[platform]}`);

type Made = { registry: string; folder: string; signal: AbortSignal } & Pick<Publication, "say">;

/**
 * What a rehearsal is built from in the place of base images that docker can't pull: substitutes, put together from
 * Debian's packages into `registry`, for the platforms whose programs this machine can run. Empty when docker can pull
 * them, or `base` says where they are. Rejects when docker does not answer.
 */
export const rehearsalBases = async (
  { base, platforms }: Pick<Publication, "base" | "platforms">,
  { registry, folder, signal, say }: Made,
): Promise<Partial<Pick<Publication, "base" | "platforms" | "network">>> => {
  const run = async (command: string, ...args: string[]): Promise<string> =>
    (await exec(command, args, { signal, maxBuffer: 256 * 1024 * 1024 })).stdout;
  const docker: Docker = (...args) => run("docker", ...args);
  await requireDaemon(docker);
  if (base !== undefined || (await isPulled(baseImages.DEBIAN_IMAGE, { docker }))) return {};
  const runnable = platforms.filter(runsHere);
  for (const platform of platforms.filter((one) => !runnable.includes(one)))
    say(`without ${platform}: no image registry can be reached, and this machine has no QEMU for it`);
  if (runnable.length === 0) throw new Error(`this machine can build for none of ${platforms.join(", ")}`);
  say("no image registry can be reached: the base images are put together from Debian's packages");
  return {
    base: await fillBaseMirror({ registry, platforms: runnable, run, folder, signal }),
    platforms: runnable,
    // What this machine alone can reach, such as a mirror of Debian, containers can too.
    network: "host",
  };
};
