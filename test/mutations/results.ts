/** What came of each mistake when it was tried last. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { allMutations } from "./all-mutations.ts";
import type { Mutation } from "./mutation.ts";
import type { Result } from "./mutation-table.ts";
import type { Outcome } from "./try-mutation.ts";

const path = join(import.meta.dirname, "generated/results.json");

/** A result holds for this change only. */
const keyOf = ({ name, file, find, replace }: Mutation): string =>
  createHash("sha256")
    .update(JSON.stringify([name, file, find, replace]))
    .digest("hex")
    .slice(0, 16);

const readAll = async (): Promise<Record<string, Outcome>> =>
  JSON.parse(await readFile(path, "utf8")) as Record<string, Outcome>;

/** Keeps one more, and drops those of changes that there are no more. One call at a time. */
export const keepResult = async ({ mutation, outcome }: Result): Promise<void> => {
  const present = new Set(allMutations.map(keyOf));
  const kept = Object.entries(await readAll()).filter(([key]) => present.has(key));
  const all = { ...Object.fromEntries(kept), [keyOf(mutation)]: outcome };
  await writeFile(path, `${JSON.stringify(all, undefined, 2)}\n`);
};

/** Those of the present mistakes that have a result. */
export const keptResults = async (): Promise<Result[]> => {
  const all = await readAll();
  return allMutations.flatMap((mutation) => {
    const outcome = all[keyOf(mutation)];
    return outcome ? [{ mutation, outcome }] : [];
  });
};

/** The test file that found each of them, by the mistake's name. */
export const finders = async (): Promise<Map<string, string>> =>
  new Map(
    (await keptResults()).flatMap(({ mutation, outcome }) =>
      outcome.found === "no" ? [] : [[mutation.name, outcome.by.split(": ")[0] ?? ""]],
    ),
  );
