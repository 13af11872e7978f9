/** The rules of a pool's size that neither its schema nor CEL can express, and those of CEL for requests over HTTP. */

import type { Path } from "../../../../platform/kinds/wire.ts";
import { problemAt, type SpecProblem } from "../../../../platform/rules/problem.ts";
import { isTimeZone } from "../../settings/time-zone.ts";
import { Autoscale, autoscaleMessages, type ScheduleWindow } from "../autoscale.ts";
import { type BrowserPoolSpec, sizeOrAutoscale } from "../browser-pool.ts";

const boundProblems = (path: Path, { min, max }: { min: number; max: number }): SpecProblem[] =>
  min > max ? [problemAt([...path, "min"], autoscaleMessages.minAboveMax)] : [];

const windowProblems = (path: Path, window: ScheduleWindow, { min, max }: Autoscale): SpecProblem[] => [
  ...(window.min === undefined && window.max === undefined ? [problemAt(path, autoscaleMessages.needsBound)] : []),
  ...boundProblems(path, { min: window.min ?? min, max: window.max ?? max }),
  ...(isTimeZone(window.timeZone) ? [] : [problemAt([...path, "timeZone"], "is no time zone of the IANA database")]),
];

/** The problems of a spec's `size` and `autoscale`. */
export const sizeProblems = ({ size, autoscale }: Pick<BrowserPoolSpec, "size" | "autoscale">): SpecProblem[] => {
  if ((size === undefined) === (autoscale === undefined)) return [problemAt(["size"], sizeOrAutoscale)];
  if (!autoscale) return [];
  const windows = (autoscale.schedule ?? []).flatMap((window, index) =>
    windowProblems(["autoscale", "schedule", index], window, autoscale),
  );
  return [...boundProblems(["autoscale"], autoscale), ...windows];
};

/** What a request says of `autoscale`: `given` is undefined where it is empty. */
export type AskedAutoscale = { given: Autoscale | undefined; problems: SpecProblem[] };

/** `autoscale` of a request with its defaults; its fields may be left out there, so that an empty one can clear it. */
export const askedAutoscale = (
  asked: { [Key in keyof Autoscale]?: Autoscale[Key] | undefined } = {},
): AskedAutoscale => {
  if (Object.values(asked).every((value) => value === undefined)) return { given: undefined, problems: [] };
  if (asked.max === undefined)
    return { given: undefined, problems: [problemAt(["autoscale", "max"], "is required, unless autoscale is empty")] };
  return { given: Autoscale.parse(asked), problems: [] };
};
