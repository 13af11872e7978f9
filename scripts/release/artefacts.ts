/** What a release consists of, as release.json says it. */
import { chromiumLabel, type ImageTarget } from "../image/image-builder.ts";
import type { Tools } from "./tools.ts";

/** `sha256:` and 64 hexadecimal digits. */
type Digest = string;

export type ReleasedImage = {
  target: ImageTarget;
  /** Without tag and digest. */
  repository: string;
  /** Of the index of all platforms. */
  digest: Digest;
  /** By platform, e.g. linux/amd64. */
  platforms: Record<string, Digest>;
};

export type ReleasedChart = { name: string; repository: string; digest: Digest };

export type Release = {
  version: string;
  /** Of git. */
  commit: string;
  /** Version of Debian's package in the images. */
  chromium: string;
  images: ReleasedImage[];
  charts: ReleasedChart[];
  /** By file name: SHA-256 in hexadecimal digits. */
  files: Record<string, string>;
};

/** A name by which everybody gets the same bytes. */
export const pinnedName = ({ repository, digest }: { repository: string; digest: Digest }): string =>
  `${repository}@${digest}`;

/** The version of Debian's package in an image of a registry, as its label says. */
export const chromiumIn = async (image: string, { crane }: Pick<Tools, "crane">): Promise<string> => {
  const { config } = JSON.parse(await crane("config", image)) as { config: { Labels?: Record<string, string> } };
  const version = config.Labels?.[chromiumLabel];
  if (version === undefined) throw new Error(`${image} has no label ${chromiumLabel}`);
  return version;
};
