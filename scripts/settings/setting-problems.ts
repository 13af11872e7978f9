/** Compares the rows of the table of settings with the fields of the schemas and with the tests. */
import type { Field } from "./field-paths.ts";
import type { Setting } from "./setting.ts";
import { testTitles } from "./test-titles.ts";

type ReadFile = (file: string) => Promise<string>;

const missingTitles = async (file: string, titles: readonly string[], read: ReadFile): Promise<string[]> => {
  const text = await read(file).catch(() => undefined);
  if (text === undefined) return [`${file} is not there`];
  const there = testTitles(file, text);
  return titles.filter((title) => !there.has(title)).map((title) => `${file} has no test “${title}”`);
};

/** Who has the field must have a time for it, and nobody else. */
const timeProblem = ({ owners }: Field, { takesHold }: Setting): string | undefined =>
  (["pool", "browser"] as const).every((owner) => owners.has(owner) === (takesHold[owner] !== undefined))
    ? undefined
    : "takesHold does not name those that have the field";

const problemsOf = async (
  path: string,
  { field, setting }: { field: Field | undefined; setting: Setting | undefined },
  read: ReadFile,
): Promise<string[]> => {
  if (!field) return [`${path}: no schema has this field`];
  if (!setting) return [`${path}: has no row in scripts/settings`];
  const { effect = field.description, shownBy } = setting;
  const found = [
    effect === "" && "has no effect: describe it in its schema",
    Object.keys(shownBy).length === 0 && "names no test",
    timeProblem(field, setting),
    ...(await Promise.all(Object.entries(shownBy).map(([file, titles]) => missingTitles(file, titles, read)))).flat(),
  ];
  return found.filter((problem) => typeof problem === "string").map((problem) => `${path}: ${problem}`);
};

/**
 * One line for each thing that is wrong. `rows`: by the place of their field. `read`: the text of a test file; rejects
 * when there is none.
 */
export const settingProblems = async (
  fields: readonly Field[],
  rows: ReadonlyMap<string, Setting>,
  read: ReadFile,
): Promise<string[]> => {
  const byPath = new Map(fields.map((field) => [field.path, field]));
  const paths = [...new Set([...byPath.keys(), ...rows.keys()])];
  const each = paths.map((path) => problemsOf(path, { field: byPath.get(path), setting: rows.get(path) }, read));
  return (await Promise.all(each)).flat();
};
