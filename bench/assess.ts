import type { Row } from "./section.ts";

/**
 * A row with its ratio, its difference from the floor and whether it meets its target. `met` is undefined for a row
 * without a target.
 */
export type AssessedRow = Row & { ratio: number | undefined; added: number | undefined; met: boolean | undefined };

/** A figure that could not be measured (NaN) misses its target. */
export const assess = (row: Row): AssessedRow => {
  const { measured, floor, target } = row;
  const ratio = floor && measured / floor.value;
  const added = floor && measured - floor.value;
  if (!target) return { ...row, ratio, added, met: undefined };
  const figure = { measured, ratio, added }[target.of] ?? Number.NaN;
  const met = "atMost" in target ? figure <= target.atMost : figure >= target.atLeast;
  return { ...row, ratio, added, met };
};
