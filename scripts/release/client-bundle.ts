/** The commands for a service that runs elsewhere, bundled: Node takes no types away from what is below `node_modules`. */
import { join } from "node:path";
import { rolldown } from "rolldown";

/** What a specifier of an import names: a package, without the path in it. Undefined for files and Node's own modules. */
const packageIn = (specifier: string): string | undefined =>
  /^(?!node:|[./])(@[^/]+\/[^/]+|[^/]+)/.exec(specifier)?.[1];

const banner = ({ isEntry }: { isEntry: boolean }): string => (isEntry ? "#!/usr/bin/env node" : "");

type Bundle = {
  /** The packages that it imports. */
  imported: Set<string>;
  /** The folders of the packages that it contains. */
  contained: Set<string>;
};

/** Writes the bundle of the tree's command line to `folder`, as `browserpool.mjs` and what that loads. */
export const bundleClient = async (
  tree: string,
  folder: string,
  { packages }: { packages: "imported" | "contained" },
): Promise<Bundle> => {
  const build = await rolldown({
    input: { browserpool: join(tree, "src/cli/client-main.ts") },
    external: (specifier) => packages === "imported" && packageIn(specifier) !== undefined,
    platform: "node",
    transform: { target: "esnext" },
  });
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" };
  const { output } = await build.write({ dir: folder, format: "esm", banner, ...names });
  await build.close();
  const chunks = output.filter((file) => file.type === "chunk");
  const own = new Set(chunks.map(({ fileName }) => fileName));
  const imports = chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]);
  const folders = chunks.flatMap(({ moduleIds }) =>
    moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []),
  );
  return {
    imported: new Set(imports.filter((name) => !own.has(name)).flatMap((name) => packageIn(name) ?? [])),
    contained: new Set(folders.sort()),
  };
};
