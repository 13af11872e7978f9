/** The charts of a release, whose defaults are its images by digest. */
import { cp, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseDocument } from "yaml";
import type { ReleasedChart, ReleasedImage } from "./artefacts.ts";
import { annotateChart, publishHubFile } from "./artifact-hub.ts";
import { provenanceOf } from "./provenance.ts";
import { helmOptions, type Publication } from "./publication.ts";
import { provenanceType } from "./signer.ts";

const charts = ["browserpool", "browserpool-crds"] as const;

/** Where the chart names each image. */
const places = { service: ["image"], browser: ["browsers", "image"] } as const;

/** Writes the images of a release into a chart's values. */
const nameImages = async (chart: string, images: readonly ReleasedImage[]): Promise<void> => {
  const file = join(chart, "values.yaml");
  const values = parseDocument(await readFile(file, "utf8"));
  for (const { target, repository, digest } of images) {
    if (target === "local") continue;
    values.setIn([...places[target], "repository"], repository);
    values.setIn([...places[target], "digest"], digest);
  }
  await writeFile(file, values.toString({ lineWidth: 0 }));
};

/** Packages a chart of the tree, for this release. Resolves with the file. */
const packageChart = async (
  name: (typeof charts)[number],
  images: readonly ReleasedImage[],
  publication: Publication,
): Promise<string> => {
  const { tree, version, scratch, out, tools } = publication;
  const chart = join(scratch, "charts", name);
  // Links to crds/ become the files that a package has to have.
  await cp(join(tree, "charts", name), chart, { recursive: true, dereference: true });
  const named = name === "browserpool" ? images : [];
  if (named.length > 0) await nameImages(chart, named);
  await annotateChart(chart, named, publication);
  await tools.helm("package", chart, "--version", version, "--app-version", version, "--destination", out);
  return join(out, `${name}-${version}.tgz`);
};

/** Packages, pushes and signs the charts. Resolves with them, and with the files of their packages. */
export const publishCharts = async (
  images: readonly ReleasedImage[],
  publication: Publication,
): Promise<{ charts: ReleasedChart[]; packages: string[] }> => {
  const { registry, version, tools, signer, say, build, env } = publication;
  const published: ReleasedChart[] = [];
  const packages: string[] = [];
  for (const name of charts) {
    const file = await packageChart(name, images, publication);
    await tools.helm("push", file, `oci://${registry}/charts`, ...helmOptions(publication));
    const repository = `${registry}/charts/${name}`;
    const digest = await tools.crane("digest", `${repository}:${version}`);
    await signer.sign(`${repository}@${digest}`);
    const provenance = provenanceOf({ ...build, bases: [] }, { chart: name }, env);
    await signer.attest(`${repository}@${digest}`, provenanceType, provenance);
    await publishHubFile(join(publication.tree, "charts", name), repository, publication);
    say(`oci://${repository}:${version}  ${digest}  ${basename(file)}`);
    published.push({ name, repository, digest });
    packages.push(file);
  }
  return { charts: published, packages };
};
