/** The table of docs/support.md that says which minor releases there are, and until when each gets fixes. */
import type { Version } from "./version.ts";

const waiting = { date: "not yet", end: "three months after the next minor release" };
const rowPattern = /^\| (\d+\.\d+) \| ([^|]*) \| ([^|]*) \| (.*)$/m;

/** Three months later; a day that the month lacks becomes the month's last one. */
const threeMonthsAfter = (date: string): string => {
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  const lastDay = new Date(Date.UTC(year, month + 3, 0)).getUTCDate();
  return new Date(Date.UTC(year, month + 2, Math.min(day, lastDay))).toISOString().slice(0, 10);
};

/**
 * The page after a release: the first of a minor version gets its date, and ends the time of the one before it. A patch
 * changes nothing. What a new row needs of Kubernetes and others is that of the newest one. Throws an Error when the
 * page has no row. `date`: such as `2026-02-03`.
 */
export const withRelease = (page: string, { version, date }: { version: Version; date: string }): string => {
  const minor = version.split(".").slice(0, 2).join(".");
  const [row, newest, released, , needs] = rowPattern.exec(page) ?? [];
  if (row === undefined) throw new Error("docs/support.md has no row of a release");
  if (newest === minor && released !== waiting.date) return page;
  const own = `| ${minor} | ${date} | ${waiting.end} | ${needs}`;
  if (newest === minor) return page.replace(row, () => own);
  return page.replace(row, () => `${own}\n| ${newest} | ${released} | ${threeMonthsAfter(date)} | ${needs}`);
};
