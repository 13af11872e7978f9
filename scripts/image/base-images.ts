import type { Docker } from "./docker.ts";

/** The Dockerfile's build arguments for base images, with their defaults there. */
export const baseImages = { NODE_IMAGE: "node:24-bookworm-slim", DEBIAN_IMAGE: "debian:bookworm-slim" } as const;

type Wanted = { docker: Docker; platform?: string | undefined };

/** Whether a registry has given docker an image. */
export const isPulled = async (name: string, { docker, platform }: Wanted): Promise<boolean> => {
  const forPlatform = platform === undefined ? [] : ["--platform", platform];
  return docker("pull", "--quiet", ...forPlatform, name).then(
    () => true,
    () => false,
  );
};

/**
 * Returns a base image with the digest that the registry has now, or its bare name when no registry can be reached and
 * docker already has the image. Rejects when neither is possible.
 */
export const pinned = async (name: string, { docker, platform }: Wanted): Promise<string> => {
  const pulled = await isPulled(name, { docker, platform });
  const digests = await docker("image", "inspect", "--format", '{{join .RepoDigests " "}}', name).catch(() => {
    throw new Error(`docker has no base image ${name}, and no registry can be reached`);
  });
  const found = (await docker("image", "inspect", "--format", "{{.Os}}/{{.Architecture}}", name)).trim();
  if (platform !== undefined && found !== platform)
    throw new Error(
      `docker has the base image ${name} for ${found} and not for ${platform}, and no registry can be reached`,
    );
  const digest = pulled ? digests.trim().split(" ")[0] : undefined;
  return digest || name;
};
