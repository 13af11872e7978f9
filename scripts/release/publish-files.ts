/** The files of a release for those who use no registry of charts: manifests, packages, and a signed list of checksums. */
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { packageForKrew } from "./krew-plugin.ts";
import { packageForNpm } from "./npm-package.ts";
import type { Publication } from "./publication.ts";

/** The list that `sha256sum --check` reads. */
export const checksumsFile = "sha256sums.txt";

/** All definitions of the tree in one file. */
const writeDefinitions = async ({ tree, out }: Publication): Promise<string> => {
  const folder = join(tree, "crds");
  const texts = await Promise.all((await readdir(folder)).sort().map((name) => readFile(join(folder, name), "utf8")));
  const file = join(out, "crds.yaml");
  await writeFile(file, texts.map((text) => `---\n${text}`).join(""));
  return file;
};

/** What `helm install` would make, for users without Helm, who have made the login of Redis before. */
const writeManifests = async (chartPackage: string, { out, tools }: Publication): Promise<string> => {
  const file = join(out, "install.yaml");
  const options = ["--namespace=browserpool-system", "--no-hooks"];
  const objects = await tools.helm(
    ...["template", "browserpool", chartPackage, ...options],
    "--set=crds.enabled=false,redis.existingSecret=browserpool-redis",
  );
  await writeFile(file, `${objects}\n`);
  return file;
};

/** Writes and signs them. Resolves with the checksums, by file name. `chartPackages`: that of the service first. */
export const publishFiles = async (
  chartPackages: readonly string[],
  publication: Publication,
): Promise<Record<string, string>> => {
  const { out, signer, say } = publication;
  const files = [
    ...chartPackages,
    await writeDefinitions(publication),
    await writeManifests(chartPackages[0] ?? "", publication),
    await packageForNpm(publication),
    ...(await packageForKrew(publication)),
  ];
  const sums: Record<string, string> = {};
  for (const file of files)
    sums[basename(file)] = createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
  const list = join(out, checksumsFile);
  await writeFile(
    list,
    Object.entries(sums)
      .map(([name, sum]) => `${sum}  ${name}\n`)
      .join(""),
  );
  await signer.signFile(list);
  for (const [name, sum] of Object.entries(sums)) say(`${name}  sha256:${sum}`);
  return sums;
};
