/**
 * Tries the mistakes of an earlier run again, as far as the tests that noticed them have changed: what is lost with
 * tests that were removed.
 */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { UsageError } from "../../support/command-line.ts";
import { type Console, saysSomething } from "../commands.ts";
import type { AgainstOptions } from "../options.ts";
import { isUnnoticed } from "../outcome.ts";
import { listOf, tableOfBoth } from "../result-tables.ts";
import { hasLostFinder, readRun, runPath, type StoredMutation, stored } from "../stored-run.ts";
import { root } from "../tree.ts";
import { resultsOf, tryLeft } from "./try-fresh.ts";

const fits = ({ file, find }: StoredMutation): boolean => {
  try {
    return readFileSync(join(root, "src", file), "utf8").split(find).length === 2;
  } catch {
    return false;
  }
};

/** What is to be tried again: it is forgotten what came of it. */
const anew = (mutation: StoredMutation): StoredMutation => {
  const isLost = mutation.outcome && (mutation.outcome.found === "no" || hasLostFinder(mutation));
  return isLost ? stored(mutation) : mutation;
};

/** Returns the exit code: 1 when a mistake that was noticed is not any more. */
export const tryAgainst = async (options: AgainstOptions, console: Console): Promise<number> => {
  const { say } = console;
  const before = await readRun(options.against);
  if (before?.seed === undefined) throw new UsageError(`--against ${options.against}: it is no run of fresh mistakes`);
  const all = before.mutations.filter(({ outcome }) => outcome);
  const comparable = all.filter(fits);
  if (comparable.length < all.length)
    say(
      `${all.length - comparable.length} of ${all.length} mistakes fit the product no more, and are left out of both`,
    );
  const again = comparable.map(anew);
  say(`${again.filter(({ outcome }) => !outcome).length} of ${again.length} mistakes are tried again`);
  const budgetSeconds = options.budgetSeconds ?? before.budgetSeconds ?? 0;
  const path = runPath(`${basename(options.against, ".json")}-again`);
  const now = await tryLeft(again, {
    options: { count: again.length, seed: before.seed, budgetSeconds, atOnce: options.atOnce },
    path,
    console,
  });
  const names = new Set(resultsOf(now).map(({ mutation }) => mutation.name));
  const earlier = resultsOf(comparable).filter(({ mutation }) => names.has(mutation.name));
  say(`\n${tableOfBoth(earlier, resultsOf(now))}`);
  const noticed = new Set(earlier.filter(({ outcome }) => outcome.found !== "no").map(({ mutation }) => mutation.name));
  const lost = resultsOf(now).filter(({ mutation, outcome }) => isUnnoticed(outcome) && noticed.has(mutation.name));
  if (lost.length > 0) say(`\nno longer noticed:\n\n${listOf(lost.map(({ mutation }) => mutation))}`);
  const isDone = names.size === now.length;
  if (!isDone) say("\nthe run was ended before all were tried");
  return isDone && lost.length === 0 && saysSomething(resultsOf(now), console) ? 0 : 1;
};
