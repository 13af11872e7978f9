import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { dockerWithBuildKit } from "../docker.ts";

/** Runs a program to its end and resolves with what it has printed; rejects when it fails. */
export type Run = (command: string, ...args: string[]) => Promise<string>;

/** Installs Debian as an image. `architecture`: in Debian's words; left out, this machine's. */
export const buildDebianImage = (image: string, run: Run, architecture?: string): Promise<string> =>
  run(join(import.meta.dirname, "debian-base.sh"), image, ...(architecture === undefined ? [] : [architecture]));

/** Builds an image of a `node` program and the npm of this machine. `args`: further ones of `docker build`. */
export const buildNodeImage = async (
  image: string,
  { node, args = [] }: { node: string; args?: readonly string[] },
  run: Run,
  folder: string,
): Promise<void> => {
  const context = join(folder, "node-image");
  const npm = (await run("npm", "root", "--global")).trim();
  await mkdir(context, { recursive: true });
  await cp(node, join(context, "node"), { dereference: true });
  await cp(join(npm, "npm"), join(context, "npm"), { recursive: true, dereference: true });
  const docker = dockerWithBuildKit(process.env.PATH ?? "");
  const recipe = ["--file", join(import.meta.dirname, "Dockerfile.node"), "--tag", image, context];
  await run("env", "DOCKER_BUILDKIT=1", docker, "build", ...args, ...recipe);
};
