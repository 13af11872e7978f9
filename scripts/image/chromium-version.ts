import type { Docker } from "./docker.ts";

/**
 * The newest version of Debian's package `chromium` that an image's sources have now. `docker build` alone would take
 * the version of its cache.
 */
export const chromiumVersionIn = async (
  image: string,
  { docker, platform, network }: { docker: Docker; platform: string | undefined; network: string },
): Promise<string> => {
  const printed = await docker(
    ...["run", "--rm", "--network", network],
    ...(platform === undefined ? [] : ["--platform", platform]),
    ...[image, "sh", "-c", "apt-get update >/dev/null && apt-cache policy chromium"],
  );
  const [, version] = /Candidate: (\S+)/.exec(printed) ?? [];
  if (version === undefined || version === "(none)") throw new Error(`${image} has no package chromium in its sources`);
  return version;
};
