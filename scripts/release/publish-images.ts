/**
 * Builds the images of a release once for each platform and pushes them as candidates:
 *
 *   build ──► push by platform ──► index of all platforms ──► signature, SBOM and provenance as referrers
 *
 * A candidate becomes the release by its digest (`promote.ts`): nothing is built again.
 */
import { createImageBuilder, imageTargets } from "../image/image-builder.ts";
import { sbomOf } from "../image/sbom.ts";
import type { ReleasedImage } from "./artefacts.ts";
import { provenanceOf } from "./provenance.ts";
import type { Publication } from "./publication.ts";
import { provenanceType, sbomType } from "./signer.ts";

type Built = { digests: Map<string, string>; bases: string[]; chromium: string };

/** Builds and pushes all targets for one platform. */
const publishFor = async (platform: string, publication: Publication): Promise<Built> => {
  const { tree, registry, candidate, say, network, base, chromium, signer, build } = publication;
  await using builder = await createImageBuilder(tree, { platform, base, chromium, network, say });
  const digests = new Map<string, string>();
  const bases = Object.values(builder.bases);
  for (const target of imageTargets.filter((name) => name !== "local" || publication.hasLocal(platform))) {
    const repository = `${registry}/${target}`;
    const image = `${repository}:${candidate}-${platform.replace("/", "-")}`;
    await builder.build(target, image);
    await builder.docker("push", "--quiet", image);
    const digest = await publication.tools.crane("digest", "--platform", platform, image);
    const name = `${repository}@${digest}`;
    await signer.attest(name, sbomType, await sbomOf(image, { docker: builder.docker, root: tree }));
    await signer.attest(name, provenanceType, provenanceOf({ ...build, bases }, { target, platform }, publication.env));
    // Its layers stay in docker's cache.
    await builder.docker("image", "rm", image);
    digests.set(target, digest);
  }
  return { digests, bases, chromium: builder.chromium };
};

/** All images, signed. `chromium`: the version in all of them, which is that of the first platform. */
export const publishImages = async (
  publication: Publication,
): Promise<{ images: ReleasedImage[]; chromium: string }> => {
  const { registry, candidate, tools, signer, say, platforms } = publication;
  const built = new Map<string, Built>();
  let { chromium } = publication;
  for (const platform of platforms) {
    const one = await publishFor(platform, { ...publication, chromium });
    chromium ??= one.chromium;
    built.set(platform, one);
  }
  const images: ReleasedImage[] = [];
  for (const target of imageTargets) {
    const repository = `${registry}/${target}`;
    const all = [...built].flatMap(([platform, { digests }]) => {
      const digest = digests.get(target);
      return digest === undefined ? [] : [[platform, digest] as const];
    });
    if (all.length === 0) continue;
    const manifests = all.flatMap(([, digest]) => ["--manifest", `${repository}@${digest}`]);
    const name = await tools.crane("index", "append", ...manifests, "--tag", `${repository}:${candidate}`);
    const digest = name.split("@")[1] ?? "";
    await signer.sign(`${repository}@${digest}`);
    const bases = [...built.values()].flatMap((one) => one.bases);
    await signer.attest(
      `${repository}@${digest}`,
      provenanceType,
      provenanceOf({ ...publication.build, bases }, { target }, publication.env),
    );
    say(`${repository}@${digest}  ${all.map(([platform]) => platform).join(", ")}`);
    images.push({ target, repository, digest, platforms: Object.fromEntries(all) });
  }
  return { images, chromium: chromium ?? "" };
};
