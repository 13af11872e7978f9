/** Draws mistakes that neither the compiler nor the linter notices: those alone are for the tests to find. */
import { knownTo } from "../../support/import-graph.ts";
import type { Mutation } from "../mutation.ts";
import { copyTree, type Tree } from "../tree.ts";
import { complaints } from "./complaints.ts";
import { draw, productSources } from "./draw.ts";

/**
 * Mistakes that are checked at once, each in another file, so that a complaint tells of one. So many passes of the
 * compiler and no more than one mistake of a file in some sixty: what is drawn depends on it.
 */
const batchSize = 120;

const pathOf = ({ file }: Mutation): string => `src/${file}`;

/** Takes the next batch: first of `waiting`, which are those that were drawn for a file of an earlier batch. */
const nextBatch = (drawn: Generator<Mutation>, waiting: Mutation[]): Mutation[] => {
  const batch = new Map<string, Mutation>();
  const later: Mutation[] = [];
  while (batch.size < batchSize) {
    const next = waiting.shift() ?? drawn.next().value;
    if (!next) break;
    const path = pathOf(next);
    if (batch.has(path)) later.push(next);
    else batch.set(path, next);
  }
  waiting.unshift(...later);
  return [...batch.values()];
};

/**
 * The mistakes that a complaint in another file may come from: those in the nearest files that it imports. What changes
 * a type that others know is most of the time a field that is left out.
 */
const behind = (file: string, batch: readonly Mutation[]): readonly Mutation[] => {
  const known = knownTo(file);
  const within = batch.filter((one) => known.has(pathOf(one)));
  const fields = within.filter(({ kind }) => kind === "field");
  const suspects = fields.length > 0 ? fields : within;
  const nearest = Math.min(...suspects.map((one) => known.get(pathOf(one)) ?? 0));
  return suspects.length > 0 ? suspects.filter((one) => known.get(pathOf(one)) === nearest) : batch;
};

/** Those of a batch that pass, tried together. */
const passing = async (batch: readonly Mutation[], tree: Tree, signal: AbortSignal): Promise<readonly Mutation[]> => {
  let left = batch;
  while (left.length > 0) {
    const tried = left;
    const undo = await tree.make(...tried);
    const found = await complaints(tree, tried.map(pathOf), signal).finally(undo);
    if (found.size === 0) break;
    const own = new Set(tried.map(pathOf).filter((path) => found.has(path)));
    const others = [...found].filter((file) => !own.has(file)).flatMap((file) => behind(file, tried));
    left = tried.filter((one) => !own.has(pathOf(one)) && !others.includes(one));
  }
  return left;
};

type CheckedDraw = {
  count: number;
  seed: number;
  /** Which files mistakes are drawn from, by path below `src/`. */
  isWanted: (file: string) => boolean;
  say: (text: string) => void;
  signal: AbortSignal;
};

/** Draws so many, fewer when there are no more. A larger count begins with the mistakes of a smaller one. */
export const drawChecked = async ({ count, seed, isWanted, say, signal }: CheckedDraw): Promise<Mutation[]> => {
  await using tree = await copyTree();
  const before = await complaints(tree, [], signal);
  if (before.size > 0) throw new Error(`the compiler finds errors in ${[...before].join(", ")} without any mistake`);
  const drawn = draw(new Map([...productSources()].filter(([file]) => isWanted(file))), seed);
  const waiting: Mutation[] = [];
  const accepted: Mutation[] = [];
  for (let checked = 0; accepted.length < count; ) {
    const batch = nextBatch(drawn, waiting);
    if (batch.length === 0) break;
    checked += batch.length;
    accepted.push(...(await passing(batch, tree, signal)));
    const told = checked - accepted.length;
    say(
      `drawn ${Math.min(count, accepted.length)} of ${count}; ${told} that the compiler or the linter noticed are left out`,
    );
  }
  return accepted.slice(0, count);
};
