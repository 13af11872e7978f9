/**
 * Base images where no registry can be reached: Debian's packages under the names that the Dockerfile and the chart
 * have.
 */
import { join, resolve } from "node:path";
import { baseImages } from "../../../scripts/image/base-images.ts";
import { buildDebianImage, buildNodeImage, type Run } from "../../../scripts/image/substitutes/substitute-images.ts";

const recipes = resolve(import.meta.dirname, "../base-images");

type Maker = (image: string, run: Run, folder: string) => Promise<unknown>;

const debian: Maker = (image, run) => buildDebianImage(image, run);

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
