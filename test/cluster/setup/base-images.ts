/**
 * Base images where no registry can be reached: Debian's packages under the names that the Dockerfile and the chart
 * have.
 */
import { cp, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { baseImages } from "../../../scripts/image/base-images.ts";
import { dockerWithBuildKit } from "../../../scripts/image/docker.ts";
import type { Run } from "../lane.ts";

const recipes = resolve(import.meta.dirname, "../base-images");

type Maker = (image: string, run: Run, folder: string) => Promise<unknown>;

const debian: Maker = (image, run) => run(join(recipes, "debian-base.sh"), image);

/** Builds an image of a `node` program and the npm of this machine. `args`: further ones of `docker build`. */
export const buildNodeImage = async (
  image: string,
  { node, args = [] }: { node: string; args?: readonly string[] },
  run: Run,
  folder: string,
): Promise<void> => {
  const context = join(folder, "node-image");
  const npm = (await run("npm", "root", "--global")).trim();
  await mkdir(context, { recursive: true });
  await cp(node, join(context, "node"), { dereference: true });
  await cp(join(npm, "npm"), join(context, "npm"), { recursive: true, dereference: true });
  const docker = dockerWithBuildKit(process.env.PATH ?? "");
  const recipe = ["--file", join(recipes, "Dockerfile.node"), "--tag", image, context];
  await run("env", "DOCKER_BUILDKIT=1", docker, "build", ...args, ...recipe);
};

/** This process' own Node is the one of package-lock.json. */
const node: Maker = (image, run, folder) => buildNodeImage(image, { node: process.execPath }, run, folder);

const redis: Maker = (image, run) =>
  run("docker", "build", "--network", "host", "--file", join(recipes, "Dockerfile.redis"), "--tag", image, recipes);

/**
 * Makes each image that is not here and can't be pulled; resolves with the names of those made. In this order: the
 * later stand on the first. `redisImage`: as the chart has it.
 */
export const provideBaseImages = async (redisImage: string, run: Run, folder: string): Promise<string[]> => {
  const makers: [string, Maker][] = [
    [baseImages.DEBIAN_IMAGE, debian],
    [baseImages.NODE_IMAGE, node],
    [redisImage, redis],
  ];
  const made: string[] = [];
  for (const [image, make] of makers) {
    const isHere = await run("docker", "image", "inspect", image).catch(() => undefined);
    const isPulled = isHere ?? (await run("docker", "pull", "--quiet", image).catch(() => undefined));
    if (isPulled !== undefined) continue;
    await make(image, run, folder);
    made.push(image);
  }
  return made;
};
