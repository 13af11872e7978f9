/** What a test must run so that it may notice a mutation. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { SourcePatch } from "../../robustness/hook/source-patch.ts";
import { placeOf } from "../mutation.ts";
import { root } from "../tree.ts";
import { functionsOf, loadedHit } from "./instrument.ts";

const sourceOf = (file: string): string => readFileSync(join(root, "src", file), "utf8");

/** The code that says when it runs, by path below `src/`. */
export const isNoting = (file: string): boolean => file.endsWith(".ts") && !file.endsWith(".test.ts");

const sources = (): string[] => readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }) as string[];

const hitsOfFile = (file: string): string[] => [
  loadedHit(file),
  ...functionsOf(file, sourceOf(file)).map(({ hit }) => hit),
];

/** What a script says when Redis runs it; the hook of measure.ts says the same. */
const scriptHit = (file: string): string => `lua:${basename(file, ".lua")}`;

/** Scripts that contain an include; a script's own name is the one it is run by. */
const scriptsWith = (file: string): string[] => {
  const name = basename(file, ".lua");
  if (basename(dirname(file)) !== "includes") return [scriptHit(file)];
  const folder = join(root, "src", dirname(dirname(file)));
  return readdirSync(folder)
    .filter((script) => script.endsWith(".lua"))
    .filter((script) =>
      /^-- @include (.+)$/m
        .exec(readFileSync(join(folder, script), "utf8"))?.[1]
        ?.split(" ")
        .includes(name),
    )
    .map(scriptHit);
};

/** The code that names a file: what reads a page's script, or starts a program; by path below `src/`. */
export const readersOf = (file: string): string[] =>
  sources().filter((one) => isNoting(one) && sourceOf(one).includes(basename(file)));

/** All hits that the product of the tree can make. */
export const presentHits = (): Set<string> =>
  new Set(
    sources().flatMap((file) => {
      if (file.endsWith(".lua")) return [scriptHit(file)];
      return isNoting(file) ? hitsOfFile(file) : [];
    }),
  );

/** Any of these says that a test runs what a mutation changes: the innermost function around it, or the script. */
export const hitsOfMutation = (patch: SourcePatch): string[] => {
  const { file } = patch;
  if (file.endsWith(".lua")) return scriptsWith(file);
  if (!isNoting(file)) return readersOf(file).flatMap(hitsOfFile);
  const text = sourceOf(file);
  const at = placeOf(patch, text);
  // Functions come in the order in which they begin: the last one around a place is the innermost.
  const innermost = functionsOf(file, text).findLast(({ start, end }) => start <= at && at < end);
  return [innermost?.hit ?? loadedHit(file)];
};
