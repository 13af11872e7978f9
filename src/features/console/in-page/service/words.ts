/** Words that several views use. */

/** The rule for most names. */
export const nameRule = "Letters, digits, dot, dash and underscore.";

/** What fields for `allowed_origins` say. */
export const originsHint =
  "One a line, such as https://shop.example. Values are typed only into pages of these. Left empty: into any page.";

const units = ["B", "kB", "MB", "GB"];

/** A number of bytes in its largest unit: `1.4 MB`. */
export const bytes = (count: number): string => {
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)));
  const value = count / 1000 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
};

/** `1 item`, `2 items`. */
export const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;
