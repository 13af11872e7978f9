/**
 * The npm package with the commands for a service that runs elsewhere. They are bundled: Node takes no types away from
 * what is below `node_modules`.
 */
import { cp, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import type { Publication } from "./publication.ts";

/** What a specifier of an import names: a package, without the path in it. Undefined for files and Node's own modules. */
const packageIn = (specifier: string): string | undefined =>
  /^(?!node:|[./])(@[^/]+\/[^/]+|[^/]+)/.exec(specifier)?.[1];

/** Writes the bundle of the tree's command line to `folder`. Resolves with the packages that it imports. */
const bundle = async (tree: string, folder: string): Promise<Set<string>> => {
  const build = await rolldown({
    input: { browserpool: join(tree, "src/cli/client-main.ts") },
    external: (specifier) => packageIn(specifier) !== undefined,
    platform: "node",
    transform: { target: "esnext" },
  });
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" };
  const { output } = await build.write({ dir: folder, format: "esm", banner, ...names });
  await build.close();
  const chunks = output.filter((file) => file.type === "chunk");
  const own = new Set(chunks.map(({ fileName }) => fileName));
  const imports = chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]);
  return new Set(imports.filter((name) => !own.has(name)).flatMap((name) => packageIn(name) ?? []));
};

const banner = ({ isEntry }: { isEntry: boolean }): string => (isEntry ? "#!/usr/bin/env node" : "");

/** Makes the package in `out`. Resolves with its file. */
export const packageForNpm = async ({ tree, version, scratch, out, tools }: Publication): Promise<string> => {
  const folder = join(scratch, "npm");
  await mkdir(folder, { recursive: true });
  const imported = await bundle(tree, join(folder, "dist"));
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
