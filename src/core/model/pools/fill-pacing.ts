/**
 * Fill pacing (FILL-RATE-1 to FILL-RATE-3): the operator starts `r = size × fill_rate_per_minute / 100` browsers a
 * minute, one by one, `60 / r` seconds apart, the first at once. A rate of 0 pauses filling.
 */

export type Fill = { size: number; fillRatePerMinute: number };

/** Longest time between two starts, ms: a year. A rate close to 0 would give a date that `Date` can't represent. */
const maxIntervalMs = 365 * 24 * 3_600_000;

/** Milliseconds between two starts; infinite when filling is paused. */
export const startIntervalMs = ({ size, fillRatePerMinute }: Fill): number =>
  fillRatePerMinute === 0 ? Number.POSITIVE_INFINITY : Math.min(6_000_000 / (size * fillRatePerMinute), maxIntervalMs);

/** Longest time between two failed starts, ms. */
const maxBackOffMs = 5 * 60_000;

/** How long to wait after the n-th failed start in a row, ms: 1 s, doubled each time. 0 when none failed. */
export const failedStartBackOffMs = (failedStarts: number): number =>
  failedStarts === 0 ? 0 : Math.min(1000 * 2 ** (failedStarts - 1), maxBackOffMs);

/** Default waiting time of an acquire while filling is paused, s. */
const pausedWaitSeconds = 600;

/**
 * Shortest default waiting time, s: at the highest rates a pool "fills" in less time than one browser needs to start.
 */
const minWaitSeconds = 30;

/** Longest default waiting time, s: else a pool that fills for days would keep the connection open for days. */
const maxWaitSeconds = 3600;

/**
 * Default of `acquire_timeout_seconds`: the time that the whole pool needs to fill at its rate, from 30 s to an hour.
 */
export const defaultAcquireTimeoutSeconds = (fill: Fill): number => {
  if (fill.fillRatePerMinute === 0) return pausedWaitSeconds;
  const fillSeconds = Math.ceil((startIntervalMs(fill) * fill.size) / 1000);
  return Math.min(Math.max(fillSeconds, minWaitSeconds), maxWaitSeconds);
};
