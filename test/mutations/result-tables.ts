/** What is printed at the end of a run. */
import { table } from "../../scripts/marked-part.ts";
import { areaNames, areaOf } from "./areas.ts";
import { diffOf, type Mutation } from "./mutation.ts";
import { isAnswer, isUnnoticed, type Outcome } from "./outcome.ts";
import { intervalText, shareText } from "./rate.ts";

/** A mutation and what came of it. */
export type Result = { mutation: Mutation; outcome: Outcome };

type Row = { name: string; of: readonly Result[] };

const rowsOf = (results: readonly Result[]): Row[] => [
  ...areaNames
    .map((name) => ({ name, of: results.filter(({ mutation }) => areaOf(mutation.file) === name) }))
    .filter(({ of }) => of.length > 0),
  { name: "all", of: results },
];

const counts = (of: readonly Result[]) => {
  const count = (is: (outcome: Outcome) => boolean): number => of.filter(({ outcome }) => is(outcome)).length;
  return {
    unit: count(({ found }) => found === "unit"),
    integration: count(({ found }) => found === "integration"),
    unnoticed: count(isUnnoticed),
    unanswered: count((outcome) => !isAnswer(outcome)),
  };
};

const found = (of: readonly Result[]): number => of.filter(({ outcome }) => outcome.found !== "no").length;
const answered = (of: readonly Result[]): number => of.filter(({ outcome }) => isAnswer(outcome)).length;

/**
 * One row for each area and one for all. What came to no answer counts in no rate. `isSample`: whether the rate is one
 * of a larger whole.
 */
export const tableByArea = (results: readonly Result[], { isSample }: { isSample: boolean }): string => {
  const rows = rowsOf(results).map(({ name, of }) => {
    const { unit, integration, unnoticed, unanswered } = counts(of);
    const part = [unit + integration, answered(of)] as const;
    const counted = [name, of.length, unit, integration, unnoticed, unanswered, shareText(...part)];
    return isSample ? [...counted, intervalText(...part)] : counted;
  });
  const head = ["area", "tried", "found by a unit test", "by another test", "not noticed", "no answer", "found"];
  return table(
    isSample ? [...head, "95 % interval"] : head,
    rows.map((row) => row.map(String)),
  );
};

/** The rates of two runs of the same mutations. */
export const tableOfBoth = (before: readonly Result[], now: readonly Result[]): string => {
  const later = new Map(rowsOf(now).map(({ name, of }) => [name, of]));
  const cells = (of: readonly Result[]): string[] => [
    `${found(of)} of ${answered(of)}`,
    shareText(found(of), answered(of)),
    intervalText(found(of), answered(of)),
  ];
  const rows = rowsOf(before).map(({ name, of }) => [name, ...cells(of), ...cells(later.get(name) ?? [])]);
  return table(["area", "before: found", "share", "95 % interval", "now: found", "share", "95 % interval"], rows);
};

/** Each of them with what it changes, for a reader who judges whether a test is missing. */
export const listOf = (mutations: readonly Mutation[]): string =>
  mutations.map((mutation) => `${mutation.name}\n${diffOf(mutation)}`).join("\n\n");
