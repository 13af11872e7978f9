/** Milliseconds of the units of a duration. */
const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const duration = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const timestamp = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * The moment that a text names, ms since 1970: an RFC 3339 timestamp, or a duration such as `5m` or `1h30m`, which
 * means that long before `nowMs`. Undefined for any other text.
 */
export const momentOf = (text: string, nowMs: number): number | undefined => {
  if (duration.test(text)) {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)([a-z]+)/g)];
    return nowMs - parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0), 0);
  }
  const ms = timestamp.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
};
