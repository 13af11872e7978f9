/** A file as an artefact of a registry: crane pushes a folder in the layout of OCI images, whatever its media types are. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Publication } from "./publication.ts";

const manifestType = "application/vnd.oci.image.manifest.v1+json";

type Descriptor = { mediaType: string; digest: string; size: number };

/** Pushes a file as the only layer of an artefact. `name`: with a tag; `configType`: media type of its empty config. */
export const pushFile = async (
  file: string,
  { name, mediaType, configType }: { name: string; mediaType: string; configType: string },
  { scratch, tools }: Pick<Publication, "scratch" | "tools">,
): Promise<void> => {
  const layout = await mkdtemp(join(scratch, "layout-"));
  const blobs = join(layout, "blobs/sha256");
  await mkdir(blobs, { recursive: true });
  const write = async (content: Buffer, type: string): Promise<Descriptor> => {
    const hash = createHash("sha256").update(content).digest("hex");
    await writeFile(join(blobs, hash), content);
    return { mediaType: type, digest: `sha256:${hash}`, size: content.length };
  };
  const config = await write(Buffer.from("{}"), configType);
  const layer = await write(await readFile(file), mediaType);
  const layers = [{ ...layer, annotations: { "org.opencontainers.image.title": basename(file) } }];
  const manifest = { schemaVersion: 2, mediaType: manifestType, config, layers };
  const manifests = [await write(Buffer.from(JSON.stringify(manifest)), manifestType)];
  await writeFile(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  await writeFile(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
  await tools.crane("push", layout, name);
};
