import type { Docker } from "./docker.ts";

/** The Dockerfile's arguments for base images, and their defaults in it. */
export const baseImages = { NODE_IMAGE: "node:24-bookworm-slim", DEBIAN_IMAGE: "debian:bookworm-slim" } as const;

/**
 * A base image by its digest, as the registry has it now; by its name alone when no registry can be reached and the image is there
 * already. Rejects when it is neither.
 */
export const pinned = async (name: string, docker: Docker): Promise<string> => {
  const pulled = await docker("pull", "--quiet", name).then(
    () => true,
    () => false,
  );
  const digests = await docker("image", "inspect", "--format", '{{join .RepoDigests " "}}', name).catch(() => {
    throw new Error(`there is no base image ${name}, and no registry can be reached`);
  });
  const digest = pulled ? digests.trim().split(" ")[0] : undefined;
  return digest || name;
};
