/**
 * Whether the checks find what they are for: every seeded bug is put into the product, one at a time, and a history is
 * made with the faults that bring it out, over up to three seeds. Then the product as it is has to pass each history
 * that found one.
 */
import { join } from "node:path";
import { table } from "../../../scripts/marked-part.ts";
import { groupBy } from "../checks/views.ts";
import type { HistoryRequest, HistoryResult } from "../run-histories.ts";
import { runHistories } from "../run-histories.ts";
import { allBugs } from "./bugs.ts";
import type { SeededBug } from "./seeded-bug.ts";

const seeds = [201, 202, 203];

/** Load of each history, ms. */
const loadMs = 10_000;

type BugRow = {
  name: string;
  /** The checks that found it; none: it was not found. */
  found: string[];
  seed?: number;
  /** The whole history, its rest and quiet time included. */
  seconds?: number;
};

type BugRunOptions = {
  /** Names of bugs; empty: all. */
  only: string[];
  /** For the histories that are kept. */
  keepFolder: string;
  say: (text: string) => void;
  signal: AbortSignal;
};

const requestOf = ({ faults, plan }: SeededBug, seed: number): HistoryRequest => ({ seed, loadMs, faults, ...plan });

/** Which of the checks that count found the bug in a history. */
const foundIn = ({ foundBy }: SeededBug, { findings }: HistoryResult): string[] =>
  foundBy.filter((check) => findings.some((finding) => finding.check === check));

/** What the checks found of a bug in one history, told to `say`. */
const tell = (bug: SeededBug, result: HistoryResult, say: BugRunOptions["say"]): string[] => {
  const found = foundIn(bug, result);
  const others = new Set(result.findings.map(({ check }) => check).filter((check) => !found.includes(check)));
  const beside = others.size > 0 ? `  (${[...others].join(", ")})` : "";
  say(`${bug.name}  seed ${result.seed}  ${found.join(", ") || "NOT FOUND"}${beside}`);
  return found;
};

const runBug = async (bug: SeededBug, { keepFolder, say, signal }: BugRunOptions): Promise<BugRow> => {
  const run = { bug: bug.name, keepFolder: join(keepFolder, "bugs", bug.name), onHistory: () => undefined, signal };
  for (const seed of signal.aborted ? [] : seeds) {
    try {
      const [result] = (await runHistories([requestOf(bug, seed)], run)).results;
      const found = result ? tell(bug, result, say) : [];
      if (result && found.length > 0) return { name: bug.name, found, seed, seconds: result.seconds };
    } catch (error) {
      // A product with a bug may keep a history from coming to its end; the next seed may do better.
      say(`${bug.name}  seed ${seed}  the run failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { name: bug.name, found: [] };
};

/**
 * The same histories without any bug, each once, on one topology; the names of the bugs whose history does not pass.
 */
const runWithoutBugs = async (rows: BugRow[], options: BugRunOptions): Promise<string[]> => {
  const { keepFolder, say, signal } = options;
  const found = rows.flatMap(({ name, seed }) => {
    const bug = allBugs.find((one) => one.name === name);
    return bug && seed !== undefined ? [{ name, request: requestOf(bug, seed) }] : [];
  });
  const histories = [...groupBy(found, ({ request }) => JSON.stringify(request)).values()];
  let place = 0;
  const failed: string[] = [];
  const onHistory = ({ findings }: HistoryResult): void => {
    const names = histories[place++]?.map(({ name }) => name) ?? [];
    if (findings.length > 0) failed.push(...names);
    const checks = [...new Set(findings.map(({ check }) => check))].join(", ");
    say(`without ${names.join(", ")}  ${checks || "ok"}`);
  };
  await runHistories(
    histories.flatMap(([first]) => (first ? [first.request] : [])),
    { keepFolder: join(keepFolder, "without-bugs"), onHistory, signal },
  );
  return failed;
};

const tableOf = (rows: BugRow[]): string =>
  table(
    ["bug", "found by", "seed", "seconds"],
    rows.map(({ name, found, seed, seconds }) => [
      name,
      found.join(", ") || "NOT FOUND",
      String(seed ?? ""),
      seconds?.toFixed(0) ?? "",
    ]),
  );

/**
 * Returns the exit code: 1 when a bug was not found, or a history fails without one. Throws for a name that is not
 * known.
 */
export const runBugs = async (options: BugRunOptions): Promise<number> => {
  const { only, say, signal } = options;
  const unknown = only.find((name) => !allBugs.some((bug) => bug.name === name));
  if (unknown !== undefined) throw new Error(`there is no seeded bug ${unknown}`);
  const rows: BugRow[] = [];
  for (const bug of allBugs.filter(({ name }) => only.length === 0 || only.includes(name))) {
    if (signal.aborted) return 1;
    rows.push(await runBug(bug, options));
  }
  const failed = await runWithoutBugs(rows, options);
  say(`\n${tableOf(rows)}`);
  const missed = rows.filter(({ found }) => found.length === 0).map(({ name }) => name);
  if (missed.length > 0) say(`not found: ${missed.join(", ")}`);
  if (failed.length > 0) say(`fails without its bug: ${failed.join(", ")}`);
  return missed.length + failed.length === 0 ? 0 : 1;
};
