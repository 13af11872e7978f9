/** The npm package with the commands for a service that runs elsewhere. */
import { cp, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleClient } from "./client-bundle.ts";
import type { Publication } from "./publication.ts";

/** Makes the package in `out`. Resolves with its file. */
export const packageForNpm = async ({ tree, version, scratch, out, tools }: Publication): Promise<string> => {
  const folder = join(scratch, "npm");
  await mkdir(folder, { recursive: true });
  const { imported } = await bundleClient(tree, join(folder, "dist"), { packages: "imported" });
  const { name, description, license, engines, dependencies } = JSON.parse(
    await readFile(join(tree, "package.json"), "utf8"),
  );
  const needed = Object.fromEntries(Object.entries(dependencies).filter(([dependency]) => imported.has(dependency)));
  const missing = [...imported].filter((dependency) => !(dependency in needed));
  if (missing.length > 0) throw new Error(`the command line imports ${missing.join(", ")}, no dependency of ours`);
  const manifest = {
    ...{ name, version, description, license, engines, type: "module" },
    ...{ bin: { browserpool: "dist/browserpool.mjs" }, files: ["dist"], dependencies: needed },
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  await cp(join(tree, "LICENSE"), join(folder, "LICENSE"));
  await cp(join(tree, "docs/cli.md"), join(folder, "README.md"));
  const packed = await tools.npm("pack", folder, "--pack-destination", scratch, "--ignore-scripts", "--json");
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  // npm and Helm give their packages the same name.
  const file = join(out, `npm-${filename}`);
  await rename(join(scratch, filename), file);
  return file;
};
