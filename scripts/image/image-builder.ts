import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { baseImages, pinned } from "./base-images.ts";
import { chromiumVersionIn } from "./chromium-version.ts";
import { type Docker, dockerWithBuildKit, requireDaemon } from "./docker.ts";
import { registrySecrets } from "./registry-secrets.ts";
import { buildServersImage } from "./servers-image.ts";

const run = promisify(execFile);

/** The images that the Dockerfile has targets for. */
export const imageTargets = ["service", "browser", "local"] as const;
export type ImageTarget = (typeof imageTargets)[number];

/** The label of an image by which everybody can tell its Chromium: the version of Debian's package. */
export const chromiumLabel = "dev.browserpool.chromium.version";

/** This machine's, in docker's words. */
export const ownPlatform = `linux/${process.arch === "x64" ? "amd64" : process.arch}`;

type BuilderOptions = {
  /** Left out: this machine's. */
  platform?: string | undefined;
  /** Where the base images are; left out, where their names say. */
  base?: string | undefined;
  /** Version of Debian's package; left out, the newest. */
  chromium?: string | undefined;
  /** Of the build's containers, in docker's words. */
  network: string;
  say(line: string): void;
};

/** Builds images of one tree for one platform. */
type ImageBuilder = AsyncDisposable & {
  docker: Docker;
  /** The base images, by the Dockerfile's arguments, with their digests where they are known. */
  bases: Record<string, string>;
  /** Version of Debian's package. */
  chromium: string;
  /** Builds a target as `image`. */
  build(target: ImageTarget, image: string): Promise<void>;
};

const labelsOf = async (root: string, base: string): Promise<Record<string, string>> => {
  const git = async (...args: string[]): Promise<string> =>
    (await run("git", args, { cwd: root }).catch(() => ({ stdout: "" }))).stdout.trim();
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const [, digest] = base.split("@");
  const labels = {
    version,
    revision: await git("rev-parse", "HEAD"),
    created: await git("log", "-1", "--format=%cI"),
    "base.name": baseImages.DEBIAN_IMAGE,
    ...(digest && { "base.digest": digest }),
  };
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [`org.opencontainers.image.${name}`, value]));
};

/** `root`: the tree. Rejects when docker can't build for the platform, or a base image is neither here nor to be had. */
export const createImageBuilder = async (root: string, options: BuilderOptions): Promise<ImageBuilder> => {
  const { platform, base, network, say } = options;
  const command = dockerWithBuildKit(process.env.PATH ?? "");
  const env = { ...process.env, DOCKER_BUILDKIT: "1" };
  const docker: Docker = async (...args) =>
    (await run(command, args, { env, cwd: root, maxBuffer: 256 * 1024 * 1024 })).stdout;
  await requireDaemon(docker);
  const bases: Record<string, string> = {};
  for (const [argument, name] of Object.entries(baseImages)) {
    const image = base === undefined ? name : `${base}/${name}`;
    bases[argument] = await pinned(image, { docker, platform });
    say(`base ${bases[argument]}${bases[argument] === image ? " (the local image: no registry can be reached)" : ""}`);
  }
  const debian = bases.DEBIAN_IMAGE ?? "";
  const chromium = options.chromium ?? (await chromiumVersionIn(debian, { docker, platform, network }));
  say(`chromium ${chromium}`);
  const secrets = await registrySecrets(process.env.NODE_EXTRA_CA_CERTS);
  const labels = await labelsOf(root, debian);
  const build: ImageBuilder["build"] = async (target, image) => {
    const servers = image.replace("/local:", "/servers:");
    const args = { ...bases, CHROMIUM_VERSION: chromium, ...(target === "local" && { SERVERS_IMAGE: servers }) };
    const all = { ...labels, ...(target !== "service" && { [chromiumLabel]: chromium }) };
    if (target === "local") await buildServersImage(servers, { docker, root });
    await docker(
      "build",
      ...["--network", network, "--target", target, "--tag", image],
      ...(platform === undefined ? [] : ["--platform", platform]),
      ...Object.entries(args).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]),
      ...Object.entries(all).flatMap(([name, value]) => ["--label", `${name}=${value}`]),
      ...[...secrets.args, "."],
    );
    const bytes = Number(await docker("image", "inspect", "--format", "{{.Size}}", image));
    say(`${image}  ${(bytes / 1e6).toFixed(0)} MB`);
  };
  return { docker, bases, chromium, build, [Symbol.asyncDispose]: () => secrets[Symbol.asyncDispose]() };
};
