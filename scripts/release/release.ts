/**
 * A release, from a tree at the version's commit:
 *
 *   images ──► charts that name them by digest ──► files and their checksums ──► verified as users would ──► promoted
 *
 * Nothing is built twice: what was verified is what gets the names that users know.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pinnedName, type Release } from "./artefacts.ts";
import { notesOf } from "./changelog.ts";
import type { Publication } from "./publication.ts";
import { publishCharts } from "./publish-charts.ts";
import { publishFiles } from "./publish-files.ts";
import { publishImages } from "./publish-images.ts";
import { verify } from "./verify.ts";

/** The tags of a version: itself, and its series, which moves. */
const tagsOf = (version: string): string[] => [version, version.split(".").slice(0, 2).join(".")];

/** Gives the images the tags that users know. Charts have theirs already, which only name what is verified. */
const promote = async ({ images, version }: Release, { tools, say }: Publication): Promise<void> => {
  for (const image of images)
    for (const tag of tagsOf(version)) {
      await tools.crane("tag", pinnedName(image), tag);
      say(`${image.repository}:${tag}  ${image.digest}`);
    }
};

/** Carries a release out. Rejects before anything has a name of users when something is not as it must be. */
export const carryOut = async (publication: Publication): Promise<Release> => {
  const { version, build, out } = publication;
  const { images, chromium } = await publishImages(publication);
  const { charts, packages } = await publishCharts(images, publication);
  const files = await publishFiles(packages, publication);
  const release: Release = { version, commit: build.commit, chromium, images, charts, files };
  await verify(release, publication);
  await promote(release, publication);
  const changelog = await readFile(join(publication.tree, "CHANGELOG.md"), "utf8");
  await writeFile(join(out, "notes.txt"), `${notesOf(changelog, version)}\n`);
  await writeFile(join(out, "release.json"), `${JSON.stringify(release, undefined, 2)}\n`);
  return release;
};
