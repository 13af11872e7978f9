import { access } from "node:fs/promises";
import { baseImages } from "../image/base-images.ts";
import { ownPlatform } from "../image/image-builder.ts";
import { fillBaseMirror } from "../image/substitutes/base-mirror.ts";
import { outputOf } from "../run-program.ts";
import type { Publication } from "./publication.ts";

type Bases = Pick<Publication, "base" | "platforms" | "network">;

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** The kernel's names of processors that it can have QEMU run programs of. */
const emulated: Record<string, string> = { "linux/arm64": "aarch64", "linux/amd64": "x86_64" };

const runsHere = async (platform: string): Promise<boolean> =>
  platform === ownPlatform || (await succeeds(access(`/proc/sys/fs/binfmt_misc/qemu-${emulated[platform]}`)));

/**
 * From which base images a rehearsal is built. Where docker can't pull them, substitutes are put together from Debian's
 * packages into `registry`, for the platforms whose programs this machine can run.
 */
export const rehearsalBases = async (
  chosen: Omit<Bases, "network"> & { network: string | undefined },
  {
    registry,
    folder,
    signal,
    say,
  }: { registry: string; folder: string; signal: AbortSignal } & Pick<Publication, "say">,
): Promise<Bases> => {
  const { base, platforms, network } = chosen;
  const run = (command: string, ...args: string[]): Promise<string> => outputOf(command, args);
  if (base !== undefined || (await succeeds(run("docker", "pull", "--quiet", baseImages.DEBIAN_IMAGE))))
    return { base, platforms, network: network ?? "default" };
  const runnable: string[] = [];
  for (const platform of platforms)
    if (await runsHere(platform)) runnable.push(platform);
    else say(`without ${platform}: no image registry can be reached, and this machine has no QEMU for it`);
  if (runnable.length === 0) throw new Error(`this machine can build for none of ${platforms.join(", ")}`);
  say("no image registry can be reached: the base images are put together from Debian's packages");
  return {
    base: await fillBaseMirror({ registry, platforms: runnable, run, folder, signal }),
    platforms: runnable,
    // What this machine alone can reach, such as a mirror of Debian, containers can too.
    network: network ?? "host",
  };
};
