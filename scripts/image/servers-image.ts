/** The image of the programs that local mode runs as its control plane, from those of this machine. */
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlPlanePrograms, locatePrograms } from "../../src/local/locate-programs.mjs";
import type { Docker } from "./docker.ts";

/** Gets the programs where they are missing; prints what it does. */
const setUp = (root: string): void => {
  const { status } = spawnSync(process.execPath, [join(root, "scripts/setup.mjs"), "--image"], { stdio: "inherit" });
  if (status !== 0) throw new Error("etcd, kube-apiserver and kubectl could not be got");
};

/** Copies the programs to `folder` under their own names; etcd and kube-apiserver may be one file with two names. */
const copyPrograms = async (folder: string): Promise<void> => {
  const found = locatePrograms();
  const copied = new Map<string, string>();
  for (const name of controlPlanePrograms) {
    const path = found[name];
    if (!path) throw new Error(`${name} is missing`);
    const file = await realpath(path);
    const known = copied.get(file);
    if (known) await symlink(known, join(folder, name));
    else await cp(file, join(folder, name));
    copied.set(file, name);
  }
};

/** Builds it as `image`. Linux alone: programs of another system don't run in a container. */
export const buildServersImage = async (image: string, { docker, root }: { docker: Docker; root: string }) => {
  if (process.platform !== "linux") throw new Error(`--local builds on Linux only, and this is ${process.platform}`);
  setUp(root);
  const folder = await mkdtemp(join(tmpdir(), "browserpool-servers-"));
  try {
    const context = join(folder, "bin");
    await mkdir(context);
    await copyPrograms(context);
    const recipe = join(folder, "Dockerfile");
    await writeFile(recipe, "FROM scratch\nCOPY bin /\n");
    await docker("build", "--tag", image, "--file", recipe, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};
