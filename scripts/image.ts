/** `npm run image`: builds images of the Dockerfile. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { root } from "./generated-file.ts";
import { baseImages, pinned } from "./image/base-images.ts";
import { type Docker, dockerWithBuildKit } from "./image/docker.ts";
import { registrySecrets } from "./image/registry-secrets.ts";
import { sbomOf } from "./image/sbom.ts";
import { buildServersImage } from "./image/servers-image.ts";

const usage = `usage: npm run image -- [options]

Builds browserpool/service and browserpool/browser, or browserpool/local, from the Dockerfile. The script pins base images by
the digest that the registry has now, and writes the digest into the images' labels.

  --local          builds browserpool/local, the whole of local mode in one image, and nothing else; on Linux only
  --tag TAG        default: the version of package.json
  --prefix PREFIX  default: browserpool
  --network MODE   network of the build's containers, in docker's words
  --sbom FOLDER    also writes each image's contents there, e.g. to service.cdx.json (CycloneDX)
  --help           this text
`;

const run = promisify(execFile);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** `base`: the base image, with its digest if that is known. */
const labels = async (base: string): Promise<Record<string, string>> => {
  const git = async (...args: string[]): Promise<string> =>
    (await run("git", args, { cwd: root }).catch(() => ({ stdout: "" }))).stdout.trim();
  const [, digest] = base.split("@");
  return {
    version: manifest.version,
    revision: await git("rev-parse", "HEAD"),
    created: await git("log", "-1", "--format=%cI"),
    "base.name": baseImages.DEBIAN_IMAGE,
    ...(digest && { "base.digest": digest }),
  };
};

const options = () =>
  parseArgs({
    options: {
      local: { type: "boolean", default: false },
      tag: { type: "string", default: manifest.version },
      prefix: { type: "string", default: "browserpool" },
      network: { type: "string", default: "default" },
      sbom: { type: "string" },
      help: { type: "boolean", default: false },
    },
  }).values;

const build = async ({ local, tag, prefix, network, sbom }: ReturnType<typeof options>): Promise<void> => {
  const command = dockerWithBuildKit(process.env.PATH ?? "");
  const env = { ...process.env, DOCKER_BUILDKIT: "1" };
  const docker: Docker = async (...args) =>
    (await run(command, args, { env, cwd: root, maxBuffer: 256 * 1024 * 1024 })).stdout;
  const bases: Record<string, string> = {};
  for (const [argument, name] of Object.entries(baseImages)) {
    bases[argument] = await pinned(name, docker);
    say(`base ${bases[argument]}${bases[argument] === name ? " (the local image: no registry can be reached)" : ""}`);
  }
  if (local) {
    bases.SERVERS_IMAGE = `${prefix}/servers:${tag}`;
    await buildServersImage(bases.SERVERS_IMAGE, { docker, root });
  }
  await using secrets = await registrySecrets(process.env.NODE_EXTRA_CA_CERTS);
  const shared = [
    ...["--network", network],
    ...Object.entries(bases).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]),
    ...Object.entries(await labels(bases.DEBIAN_IMAGE ?? "")).flatMap(([name, value]) => [
      "--label",
      `org.opencontainers.image.${name}=${value}`,
    ]),
    ...secrets.args,
  ];
  for (const target of local ? ["local"] : ["service", "browser"]) {
    const image = `${prefix}/${target}:${tag}`;
    await docker("build", ...shared, "--target", target, "--tag", image, ".");
    const bytes = Number(await docker("image", "inspect", "--format", "{{.Size}}", image));
    say(`${image}  ${(bytes / 1e6).toFixed(0)} MB`);
    if (sbom === undefined) continue;
    await mkdir(sbom, { recursive: true });
    const file = join(sbom, `${target}.cdx.json`);
    await writeFile(file, `${JSON.stringify(await sbomOf(image, { docker, root }), undefined, 2)}\n`);
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
