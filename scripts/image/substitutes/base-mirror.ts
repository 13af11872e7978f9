/** A mirror of the base images for several processors in a registry of this machine, where no other can be reached. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createTools, type Tools } from "../../release/tools.ts";
import { baseImages } from "../base-images.ts";
import { buildDebianImage, buildNodeImage, type Run } from "./substitute-images.ts";

type Mirror = { registry: string; platforms: readonly string[]; run: Run; folder: string; signal: AbortSignal };

/** The `node` of npm for a processor, which is that of package-lock.json. */
const nodeFor = async (architecture: string, { npm }: Tools, { run, folder }: Mirror): Promise<string> => {
  const name = `node-linux-${architecture === "amd64" ? "x64" : architecture}`;
  const target = join(folder, name);
  await mkdir(target, { recursive: true });
  const packed = await npm("pack", `${name}@${process.versions.node}`, "--pack-destination", target);
  await run("tar", "-xzf", join(target, packed), "-C", target);
  return join(target, "package/bin/node");
};

/** Fills it. Resolves with the prefix by which `npm run image` and `npm run release` find the images. */
export const fillBaseMirror = async (mirror: Mirror): Promise<string> => {
  const { registry, platforms, run, folder, signal } = mirror;
  const tools = createTools(folder, signal);
  const prefix = `${registry}/library`;
  // That of Node stands on Debian's.
  for (const argument of ["DEBIAN_IMAGE", "NODE_IMAGE"] as const) {
    const name = baseImages[argument];
    const pushed: string[] = [];
    for (const platform of platforms) {
      const architecture = platform.split("/")[1] ?? "";
      const image = `${prefix}/${name}-${architecture}`;
      if (argument === "DEBIAN_IMAGE") await buildDebianImage(image, run, architecture);
      else {
        const args = [
          "--platform",
          platform,
          "--build-arg",
          `DEBIAN_IMAGE=${prefix}/${baseImages.DEBIAN_IMAGE}-${architecture}`,
        ];
        await buildNodeImage(image, { node: await nodeFor(architecture, tools, mirror), args }, run, folder);
      }
      await run("docker", "push", "--quiet", image);
      // Docker's import takes every image for one of this machine.
      await tools.crane("mutate", "--set-platform", platform, "--tag", image, image);
      pushed.push(
        `${image.slice(0, image.lastIndexOf(":"))}@${await tools.crane("digest", "--platform", platform, image)}`,
      );
    }
    const manifests = pushed.flatMap((image) => ["--manifest", image]);
    await tools.crane("index", "append", ...manifests, "--tag", `${prefix}/${name}`);
  }
  return prefix;
};
