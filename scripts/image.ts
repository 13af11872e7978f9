/** `npm run image`: builds images of the Dockerfile. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { root } from "./generated-file.ts";
import { createImageBuilder, imageTargets } from "./image/image-builder.ts";
import { sbomOf } from "./image/sbom.ts";

const usage = `usage: npm run image -- [options]

Builds browserpool/service and browserpool/browser, or browserpool/local, from the Dockerfile. The script pins base images by
the digest that the registry has now, and writes the digest into the images' labels.

  --local             builds browserpool/local, the whole of local mode in one image, and nothing else; on Linux only
  --tag TAG           default: the version of package.json
  --prefix PREFIX     default: browserpool
  --platform PLATFORM linux/amd64 or linux/arm64; default: this machine's. Another one needs QEMU (docs/releases.md)
  --base PREFIX       takes the base images from this mirror, e.g. mirror.example.com/library
  --chromium VERSION  of Debian's package; default: the newest
  --network MODE      network of the build's containers, in docker's words
  --sbom FOLDER       also writes each image's contents there, e.g. to service.cdx.json (CycloneDX)
  --help              this text
`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const options = () =>
  parseArgs({
    options: {
      local: { type: "boolean", default: false },
      tag: { type: "string", default: manifest.version },
      prefix: { type: "string", default: "browserpool" },
      platform: { type: "string" },
      base: { type: "string" },
      chromium: { type: "string" },
      network: { type: "string", default: "default" },
      sbom: { type: "string" },
      help: { type: "boolean", default: false },
    },
  }).values;

const build = async ({ local, tag, prefix, sbom, ...how }: ReturnType<typeof options>): Promise<void> => {
  await using builder = await createImageBuilder(root, { ...how, say });
  for (const target of imageTargets.filter((name) => (name === "local") === local)) {
    const image = `${prefix}/${target}:${tag}`;
    await builder.build(target, image);
    if (sbom === undefined) continue;
    await mkdir(sbom, { recursive: true });
    const file = join(sbom, `${target}.cdx.json`);
    const contents = await sbomOf(image, { docker: builder.docker, root });
    await writeFile(file, `${JSON.stringify(contents, undefined, 2)}\n`);
    say(`${image}  ${file}`);
  }
};

try {
  const wanted = options();
  if (wanted.help) say(usage);
  else await build(wanted);
} catch (error) {
  process.stderr.write(`image: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
