/** A share of a sample, and the bounds within which the share of the whole lies, each from 0 to 1. */
type Rate = { share: number; low: number; high: number };

/** Standard deviations that leave out 2.5 % at each side. */
const z = 1.96;

/**
 * The share with its 95 % Wilson interval, which holds for small samples and shares near 0 and 1, too. `of` must be
 * above 0.
 */
export const rateOf = (part: number, of: number): Rate => {
  const share = part / of;
  const scale = 1 + z ** 2 / of;
  const middle = (share + z ** 2 / (2 * of)) / scale;
  const reach = (z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2))) / scale;
  return { share, low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) };
};

const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** `72 %`, or nothing without a sample. */
export const shareText = (part: number, of: number): string => (of === 0 ? "" : percent(part / of));

/** `65 to 78 %`, or nothing without a sample. */
export const intervalText = (part: number, of: number): string => {
  if (of === 0) return "";
  const { low, high } = rateOf(part, of);
  return `${Math.round(100 * low)} to ${percent(high)}`;
};
