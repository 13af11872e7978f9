/** The images of a run: built from the Dockerfile, and brought to the cluster. */
import { resolve } from "node:path";
import type { Kube } from "../../../src/platform/kube/client.ts";
import { nodes } from "../../../src/platform/kube/resource-type.ts";
import type { Cluster, Images, Run } from "../lane.ts";
import { storeImage } from "./store.ts";

const root = resolve(import.meta.dirname, "../../..");
const targets = ["service", "browser"] as const;

/** Every image that an installation of a version needs. */
const imagesOf = ({ prefix }: Images, tag: string): string[] => targets.map((target) => `${prefix}/${target}:${tag}`);

/** Builds both images as `npm run image` does. */
export const buildImages = async ({ prefix, tag }: Images, run: Run): Promise<void> => {
  await run(process.execPath, resolve(root, "scripts/image.ts"), "--tag", tag, "--prefix", prefix, "--network", "host");
};

/** The same images once more under the older tag, so that an upgrade has something to come from. */
export const tagPrevious = async (images: Images, run: Run): Promise<void> => {
  const older = imagesOf(images, images.previousTag);
  for (const [index, image] of imagesOf(images, images.tag).entries())
    await run("docker", "tag", image, older[index] ?? "");
};

/**
 * To the nodes of kind, else to the registry from which the cluster pulls. Resolves with the names of the images.
 * `others`: images that the chart needs beside ours. A node that takes no browsers does without their image, which is
 * by far the largest.
 */
export const distribute = async (
  images: Images,
  { cluster, kube, run, others }: { cluster: Cluster; kube: Kube; run: Run; others: string[] },
): Promise<string[]> => {
  const own = [storeImage(images), ...[images.tag, images.previousTag].flatMap((tag) => imagesOf(images, tag))];
  if (cluster.kindName === undefined) {
    for (const image of own) await run("docker", "push", "--quiet", image);
    return own;
  }
  const all = [...own, ...others];
  const { items } = await kube.list(nodes);
  const [forBrowsers, forServices] = [[], []] as [string[], string[]];
  for (const { metadata, spec } of items) {
    const isClosed = spec?.taints?.some(({ effect }) => effect === "NoSchedule");
    (isClosed ? forServices : forBrowsers).push(metadata.name);
  }
  // In one call: layers that images share are copied once.
  const load = async (to: string[], what: string[]): Promise<void> => {
    if (to.length > 0)
      await run("kind", "load", "docker-image", ...what, "--name", cluster.kindName ?? "", "--nodes", to.join(","));
  };
  const isOfBrowsers = (image: string): boolean => image.startsWith(`${images.prefix}/browser:`);
  await load(
    forServices,
    all.filter((image) => !isOfBrowsers(image)),
  );
  await load(forBrowsers, all);
  return all;
};

/** Of both images, in words. */
export const sizesOf = async (images: Images, run: Run): Promise<string> => {
  const sizes = [];
  for (const image of imagesOf(images, images.tag)) {
    const bytes = Number(await run("docker", "image", "inspect", "--format", "{{.Size}}", image));
    sizes.push(`${image} ${(bytes / 1e6).toFixed(0)} MB`);
  }
  return sizes.join(", ");
};

/** Removes what a run has tagged; the layers stay in docker's cache. */
export const removeImages = async (images: Images, run: Run): Promise<void> => {
  await run("docker", "image", "rm", ...[images.tag, images.previousTag].flatMap((tag) => imagesOf(images, tag)));
};
