import { join } from "node:path/posix";
import { importsOf } from "./imports.ts";
import { lineAt, parseSource } from "./parse-source.ts";
import type { SourceTree, Violation } from "./source-tree.ts";

/** Files that are loaded by a name that the code computes, and the export that their loader uses. */
const loadedByName: readonly { files: RegExp; uses?: string }[] = [
  { files: /^bench\/sections\/[^/]+\.ts$/, uses: "section" },
  // Jobs of bench/own-process-entry.ts.
  { files: /^bench\/.+-load\.ts$|^test\/bench\/echo-job\.ts$/, uses: "run" },
  { files: /^test\/fuzz\/(targets|faulty)\/[^/]+\.ts$/, uses: "target" },
  // Vitest loads its configurations, reporters and global set-up.
  { files: /(^|\/)vitest\.config\.ts$|^\.ci\/unhandled-errors\.mjs$/, uses: "default" },
  { files: /^test\/support\/control-plane-setup\.ts$/, uses: "setup" },
  // The page of the live view names it by its address.
  { files: /^src\/features\/live-view\/in-page\/main\.js$/ },
];

/** Packages that no file imports: programs, and the types of a runtime. */
const programs = ["@biomejs/biome", "@types/node", "node", "typescript"];

/** Pages that tests show to browsers are data, and so is what is recorded or generated as JSON. */
const isData = (file: string): boolean =>
  /^test\/(fill|registry)\/pages\//.test(file) || (file.endsWith(".json") && file !== "package.json");

const isCode = (file: string): boolean => /\.(tsx?|mjs|js)$/.test(file) && !isData(file);

/**
 * What a tree uses. `names`: `file name` of every import by name, `file *` where all values are imported. `paths`:
 * every file that another one names, to import it, to run it, or to tell how to run it.
 */
type Uses = { names: Set<string>; paths: Set<string>; packages: Set<string> };

/** The folder of a file and those around it; the root is "". */
const foldersAround = (file: string): string[] =>
  file.split("/").map((_, index, parts) => parts.slice(0, index).join("/"));

/** Paths of code that a file names, as code in quotes, seen from its folder and from those around it. */
const pathsIn = (file: string, text: string): string[] => {
  const pattern = isCode(file)
    ? /(?<=["'`])[\w./-]+\.(?:tsx?|mjs|js)(?=["'`])/g
    : /(?<![\w./-])[\w./-]+\.(?:tsx?|mjs|js)\b/g;
  return (text.match(pattern) ?? []).flatMap((path) => foldersAround(file).map((folder) => join(folder, path)));
};

const usesOf = (tree: SourceTree): Uses => {
  const texts = [...tree].filter(([file]) => !isData(file));
  const imports = texts.flatMap(([file, text]) => (isCode(file) ? importsOf(file, text) : []));
  return {
    names: new Set(imports.flatMap(({ target, names }) => names.map((name) => `${target} ${name}`))),
    paths: new Set(texts.flatMap(([file, text]) => pathsIn(file, text).filter((path) => path !== file))),
    packages: new Set(imports.filter(({ isLocal }) => !isLocal).map(({ target }) => target)),
  };
};

const unusedFile = (file: string, { paths }: Uses): Violation[] =>
  paths.has(file) || file.endsWith(".test.ts") || loadedByName.some((group) => group.files.test(file))
    ? []
    : [`${file} is named by no other file`];

const unusedExports = (file: string, text: string, { names }: Uses): Violation[] =>
  parseSource(file, text)
    .exports.filter(({ name, isType }) => !names.has(`${file} ${name}`) && (isType || !names.has(`${file} *`)))
    .filter(({ name }) => !loadedByName.some(({ files, uses }) => uses === name && files.test(file)))
    .map(({ name, start }) => `${file}:${lineAt(text, start)} exports ${name}, which no other file imports`);

const unusedPackages = (manifest: string, { packages }: Uses): Violation[] => {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(manifest) as Record<string, object>;
  return Object.keys({ ...dependencies, ...devDependencies })
    .filter((name) => !packages.has(name.replace(/^@types\//, "")) && !programs.includes(name))
    .map((name) => `package.json depends on ${name}, which no file imports`);
};

/** Files, exports and packages that nothing uses. `tree`: the repository. */
export const checkUnused = (tree: SourceTree): Violation[] => {
  const uses = usesOf(tree);
  return [
    ...[...tree]
      .filter(([file]) => isCode(file))
      .flatMap(([file, text]) => [...unusedFile(file, uses), ...unusedExports(file, text, uses)]),
    ...unusedPackages(tree.get("package.json") ?? "{}", uses),
  ];
};
