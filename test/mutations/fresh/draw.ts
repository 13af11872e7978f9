/** Draws mistakes by chance: a file by its weight, then a kind that the file has, then a place. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceTree } from "../../../scripts/architecture/source-tree.ts";
import { randomOf } from "../../robustness/random.ts";
import { riskOf } from "../areas.ts";
import type { Mutation } from "../mutation.ts";
import { root } from "../tree.ts";
import { type Candidates, candidatesOf } from "./candidates.ts";
import { freshMutation } from "./fresh-mutation.ts";

const isDrawnFrom = (file: string): boolean =>
  /\.(ts|mjs|js|lua)$/.test(file) && !file.endsWith(".test.ts") && !file.split("/").includes("generated");

/** All product code: TypeScript, the scripts of pages, and Lua; by path below `src/`. */
export const productSources = (): SourceTree =>
  new Map(
    (readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }) as string[])
      .filter(isDrawnFrom)
      .sort()
      .map((file) => [file, readFileSync(join(root, "src", file), "utf8")]),
  );

/** Draws in a row that come to a mistake which was drawn already, before there are taken to be no more. */
const mostRepeated = 1000;

/**
 * Mistakes without end, each once, until there are no more. The same seed and sources give the same ones in the same
 * order. A file weighs its lines times the risk of its folder.
 */
export function* draw(sources: SourceTree, seed: number): Generator<Mutation> {
  const random = randomOf(seed).fork("fresh mistakes");
  const candidates = new Map<string, Candidates>();
  for (const [file, text] of sources) {
    const found = candidatesOf(file, text);
    if (found.size > 0) candidates.set(file, found);
  }
  const weights = Object.fromEntries(
    [...candidates.keys()].map((file) => [file, (sources.get(file) ?? "").split("\n").length * riskOf(file)]),
  );
  if (candidates.size === 0) return;
  const drawn = new Set<string>();
  for (let repeated = 0; repeated < mostRepeated; repeated++) {
    const file = random.weighted(weights);
    const kinds = candidates.get(file) as Candidates;
    const kind = random.pick([...kinds.keys()].sort());
    const edit = random.pick(kinds.get(kind) ?? []);
    const mutation = freshMutation(kind, { file, text: sources.get(file) ?? "", edit });
    if (drawn.has(mutation.name)) continue;
    drawn.add(mutation.name);
    repeated = 0;
    yield mutation;
  }
}
