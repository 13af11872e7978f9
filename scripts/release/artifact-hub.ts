/** What Artifact Hub shows of a chart: annotations of its Chart.yaml, and beside it in the registry a file that says whose it is. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, parseDocument, stringify } from "yaml";
import { pinnedName, type ReleasedImage } from "./artefacts.ts";
import { notesOf } from "./changelog.ts";
import type { Publication } from "./publication.ts";
import { pushFile } from "./push-file.ts";

const prefix = "artifacthub.io/";

/** Artifact Hub's kinds of changes; what has another heading is a `changed`, and begins with it. */
const kinds = ["added", "changed", "deprecated", "removed", "fixed", "security"];

type Change = { kind: string; description: string };

/** The items of a version's notes, each on one line. */
export const changesOf = (notes: string): Change[] =>
  notes.split(/^### /m).flatMap((section) => {
    const [heading = "", ...lines] = section.split("\n");
    const kind = heading.trim().toLowerCase();
    return lines
      .join("\n")
      .split(/^- /m)
      .slice(1)
      .map((item) => item.trim().replace(/\s*\n\s*/g, " "))
      .map((item) =>
        kinds.includes(kind)
          ? { kind, description: item }
          : { kind: "changed", description: `${heading.trim()}: ${item}` },
      );
  });

type Definition = {
  metadata: { name: string };
  spec: { names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: { description: string } } }[] };
};

/** `BrowserPool` → `Browser pool`. */
const displayNameOf = (kind: string): string =>
  kind.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const crdsOf = (definitions: readonly Definition[]): object[] =>
  definitions.flatMap(({ metadata: { name }, spec: { names, versions } }) =>
    versions.map((version) => ({
      ...{ kind: names.kind, version: version.name, name, displayName: displayNameOf(names.kind) },
      description: version.schema.openAPIV3Schema.description,
    })),
  );

/** All that the chart runs or has run. */
const imagesOf = (images: readonly ReleasedImage[], version: string): object[] =>
  images
    .filter(({ target }) => target !== "local")
    .map((image) => ({
      name: image.target,
      image: pinnedName({ ...image, repository: `${image.repository}:${version}` }),
    }));

/** Writes what a release alone knows into the Chart.yaml of `chart`, a folder. `images`: those that the chart names. */
export const annotateChart = async (
  chart: string,
  images: readonly ReleasedImage[],
  { tree, version }: Publication,
): Promise<void> => {
  const notes = notesOf(await readFile(join(tree, "CHANGELOG.md"), "utf8"), version);
  const changes = changesOf(notes);
  const folder = join(tree, "crds");
  const files = (await readdir(folder)).sort();
  const definitions = await Promise.all(files.map(async (name) => parse(await readFile(join(folder, name), "utf8"))));
  const file = join(chart, "Chart.yaml");
  const document = parseDocument(await readFile(file, "utf8"));
  const others = parse(String(document.getIn(["annotations", `${prefix}images`]) ?? "[]"));
  const annotations = {
    changes: stringify(changes, { lineWidth: 0 }),
    containsSecurityUpdates: String(changes.some(({ kind }) => kind === "security")),
    crds: stringify(crdsOf(definitions), { lineWidth: 0 }),
    ...(images.length > 0 && { images: stringify([...imagesOf(images, version), ...others], { lineWidth: 0 }) }),
  };
  for (const [name, value] of Object.entries(annotations)) document.setIn(["annotations", `${prefix}${name}`], value);
  await writeFile(file, document.toString({ lineWidth: 0 }));
};

/** The tag at which Artifact Hub looks for its file, and the file's media type. */
export const hubTag = "artifacthub.io";
export const hubLayer = "application/vnd.cncf.artifacthub.repository-metadata.layer.v1.yaml";

/** Puts the file of a chart's folder where Artifact Hub looks for it. */
export const publishHubFile = (chart: string, repository: string, publication: Publication): Promise<void> =>
  pushFile(
    join(chart, "artifacthub-repo.yml"),
    {
      ...{ name: `${repository}:${hubTag}`, mediaType: hubLayer },
      configType: "application/vnd.cncf.artifacthub.config.v1+yaml",
    },
    publication,
  );
