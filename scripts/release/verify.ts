/** What users can check of a release by public tools, checked before it becomes one. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { pinnedName, type Release } from "./artefacts.ts";
import { hubLayer, hubTag } from "./artifact-hub.ts";
import { krewFiles } from "./krew-plugin.ts";
import { helmOptions, type Publication } from "./publication.ts";
import { checksumsFile } from "./publish-files.ts";
import { provenanceType, sbomType, trustArgs } from "./signer.ts";

/** The predicate of a signed statement, as `cosign verify-attestation` prints it. */
const predicateIn = (printed: string): Record<string, unknown> => {
  const [line = ""] = printed.split("\n");
  return JSON.parse(Buffer.from(JSON.parse(line).payload, "base64").toString()).predicate;
};

const expectEqual = (what: string, found: unknown, wanted: unknown): void => {
  if (found !== wanted) throw new Error(`${what}: ${found}, and not ${wanted}`);
};

const verifyImages = async (release: Release, publication: Publication): Promise<void> => {
  const { tools, trust, say } = publication;
  for (const image of release.images) {
    const name = pinnedName(image);
    await tools.cosign("verify", ...trustArgs(trust), name);
    for (const [platform, digest] of Object.entries(image.platforms)) {
      const one = `${image.repository}@${digest}`;
      expectEqual(`${name} for ${platform}`, await tools.crane("digest", "--platform", platform, name), digest);
      await tools.cosign("verify", ...trustArgs(trust), one);
      const attested = (type: string): Promise<string> =>
        tools.cosign("verify-attestation", ...trustArgs(trust), "--type", type, one);
      const { components } = predicateIn(await attested(sbomType)) as { components: unknown[] };
      if (components.length < 50) throw new Error(`the SBOM of ${one} has ${components.length} components`);
      const { buildDefinition } = predicateIn(await attested(provenanceType)) as {
        buildDefinition: { resolvedDependencies: { digest: { gitCommit?: string } }[] };
      };
      expectEqual(`the commit of ${one}`, buildDefinition.resolvedDependencies[0]?.digest.gitCommit, release.commit);
      say(`verified ${image.target} ${platform}: signature, SBOM of ${components.length} components, provenance`);
    }
  }
};

/** The chart in the registry names the images of this release, and nothing that can't be pulled. */
const verifyCharts = async (release: Release, publication: Publication): Promise<void> => {
  const { tools, trust, say, version, registry } = publication;
  for (const chart of release.charts) {
    await tools.cosign("verify", ...trustArgs(trust), pinnedName(chart));
    const { layers } = JSON.parse(await tools.crane("manifest", `${chart.repository}:${hubTag}`));
    expectEqual(`${chart.repository}:${hubTag}`, layers[0].mediaType, hubLayer);
    say(`verified chart ${chart.name}: signature, file for Artifact Hub`);
  }
  const chart = ["show", "values", `oci://${registry}/charts/browserpool`, "--version", version];
  const values = parse(await tools.helm(...chart, ...helmOptions(publication))) as {
    image: { digest: string };
    browsers: { image: { digest: string } };
  };
  const digestOf = (wanted: string): string | undefined =>
    release.images.find(({ target }) => target === wanted)?.digest;
  expectEqual("the chart's image", values.image.digest, digestOf("service"));
  expectEqual("the chart's browsers.image", values.browsers.image.digest, digestOf("browser"));
};

const verifyFiles = async (release: Release, { tools, trust, out, say }: Publication): Promise<void> => {
  const list = join(out, checksumsFile);
  await tools.cosign("verify-blob", ...trustArgs(trust), "--bundle", `${list}.sigstore.json`, list);
  for (const line of (await readFile(list, "utf8")).trim().split("\n")) {
    const [sum, name = ""] = line.split("  ");
    expectEqual(
      name,
      createHash("sha256")
        .update(await readFile(join(out, name)))
        .digest("hex"),
      sum,
    );
    expectEqual(`release.json: ${name}`, release.files[name], sum);
  }
  say(`verified ${checksumsFile}: signature, ${Object.keys(release.files).length} files`);
};

/** krew installs the plug-in as users would, but from the archive that is not published yet, and kubectl's way to it runs it. */
export const verifyPlugin = async ({ tools, out, scratch, version, say }: Publication): Promise<void> => {
  const { manifest, archive } = krewFiles(version);
  await tools["validate-krew-manifest"]("-skip-install", "-manifest", join(out, manifest));
  const root = join(scratch, "krew");
  await tools.krewAt(root)("install", `--manifest=${join(out, manifest)}`, `--archive=${join(out, archive)}`);
  const told = await tools.krewAt(root, join(root, "bin/kubectl-browserpool"))("--version");
  expectEqual("kubectl browserpool --version", told, version);
  say(`verified ${manifest}: krew installs it, and it runs`);
};

/** Rejects with what is wrong. */
export const verify = async (release: Release, publication: Publication): Promise<void> => {
  await verifyImages(release, publication);
  await verifyCharts(release, publication);
  await verifyFiles(release, publication);
  await verifyPlugin(publication);
};
