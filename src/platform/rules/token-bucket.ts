/**
 * A token bucket: `perSecond` tokens come in each second, at most `burst` lie in it, and each request takes one. So a
 * caller may send a burst, and no more than the rate for long.
 */

export type BucketRate = { perSecond: number; burst: number };

/** `tokens`: what lay in it at `atMs`, by a clock that is never set. */
export type Bucket = { tokens: number; atMs: number };

const filled = ({ tokens, atMs }: Bucket, { perSecond, burst }: BucketRate, nowMs: number): number =>
  Math.min(burst, tokens + ((nowMs - atMs) / 1000) * perSecond);

/**
 * Takes a token of `bucket`; undefined is a full one. `waitMs`: 0 when a token was there, else the time until one is.
 */
export const takeToken = (
  bucket: Bucket | undefined,
  rate: BucketRate,
  nowMs: number,
): { bucket: Bucket; waitMs: number } => {
  const tokens = bucket ? filled(bucket, rate, nowMs) : rate.burst;
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, atMs: nowMs }, waitMs: 0 };
  return { bucket: { tokens, atMs: nowMs }, waitMs: ((1 - tokens) / rate.perSecond) * 1000 };
};
