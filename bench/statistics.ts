/** Summary of a series of figures, all in the unit of the figures. */
export type Summary = { count: number; mean: number; min: number; p50: number; p90: number; p99: number; max: number };

/**
 * The smallest figure that at least the share `q` (0 to 1) of the figures does not exceed; NaN without figures.
 * `sorted`: ascending.
 */
const quantile = (sorted: ArrayLike<number>, q: number): number =>
  sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;

/** Summarizes figures in any order; does not change the array. */
export const summarize = (figures: Iterable<number>): Summary => {
  const sorted = Float64Array.from(figures).sort();
  const sum = sorted.reduce((total, figure) => total + figure, 0);
  return {
    count: sorted.length,
    mean: sum / sorted.length,
    min: quantile(sorted, 0),
    p50: quantile(sorted, 0.5),
    p90: quantile(sorted, 0.9),
    p99: quantile(sorted, 0.99),
    max: quantile(sorted, 1),
  };
};

/** Counts the figures in ranges that end at powers of √2, ascending; omits empty ranges. */
export const histogram = (figures: Iterable<number>): { upTo: number; count: number }[] => {
  const counts = new Map<number, number>();
  for (const figure of figures) {
    const exponent = figure > 0 ? Math.ceil(Math.log2(figure) * 2) : Number.NEGATIVE_INFINITY;
    counts.set(exponent, (counts.get(exponent) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => a - b).map(([exponent, count]) => ({ upTo: 2 ** (exponent / 2), count }));
};
