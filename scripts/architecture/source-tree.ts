import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files of a source tree: path within src/, with forward slashes → text. */
export type SourceTree = ReadonlyMap<string, string>;

/** One thing that a tree breaks, as one line that starts with the file. */
export type Violation = string;

/** Reads every file below `folder` that has one of the `endings`. */
export const readTree = (folder: string, endings: readonly string[]): SourceTree =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => endings.some((ending) => file.endsWith(ending)))
      .sort()
      .map((file) => [file.replaceAll("\\", "/"), readFileSync(join(folder, file), "utf8")]),
  );

/** One import of a file. `target`: a path within src/, or the name of a package or of a Node module. */
export type Import = { file: string; target: string; isType: boolean; isLocal: boolean; names: string };

/** `import … from "x"` and `export … from "x"`; `import "x"`; `import("x")` and `import.meta.resolve("x")`. */
const patterns = [
  /^(?:import|export)(?<type> type)?(?<names>\s[^;"'`]*?)from "(?<target>[^"]+)"/gm,
  /^import "(?<target>[^"]+)"/gm,
  /\bimport(?:\.meta\.resolve)?\("(?<target>[^"]+)"[,)]/g,
];

const packageOf = (specifier: string): string =>
  specifier.startsWith("node:")
    ? specifier
    : specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/");

/** What one file imports. Code that is commented out counts too: there should be none. */
export const importsOf = (file: string, text: string): Import[] =>
  patterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(({ groups = {} }) => {
      const specifier = groups.target ?? "";
      const isLocal = specifier.startsWith(".");
      return {
        file,
        target: isLocal ? join(file, "..", specifier).replaceAll("\\", "/") : packageOf(specifier),
        isType: groups.type !== undefined,
        isLocal,
        names: (groups.names ?? "").trim(),
      };
    });

/** Imports of every file that is no test, by file. */
export const importsOfTree = (tree: SourceTree): Map<string, Import[]> =>
  new Map(
    [...tree]
      .filter(([file]) => /\.(ts|mjs)$/.test(file) && !file.endsWith(".test.ts"))
      .map(([file, text]) => [file, importsOf(file, text)]),
  );
