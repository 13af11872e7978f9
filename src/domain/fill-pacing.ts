/**
 * Fill pacing (contract.md, Browser pools): `r = size × fill_rate_per_minute / 100` browsers are started a minute, one by
 * one, `60 / r` seconds apart, the first at once; a rate of 0 pauses filling.
 */

export type Fill = { size: number; fillRatePerMinute: number };

/** Milliseconds between two starts; infinite when filling is paused. */
export const startIntervalMs = ({ size, fillRatePerMinute }: Fill): number => 6_000_000 / (size * fillRatePerMinute);

/** Longest time between two failed starts, ms. */
const maxBackOffMs = 5 * 60_000;

/** How long to wait after the n-th failed start in a row, ms: 1 s, doubled each time. 0 when none failed. */
export const failedStartBackOffMs = (failedStarts: number): number =>
  failedStarts === 0 ? 0 : Math.min(1000 * 2 ** (failedStarts - 1), maxBackOffMs);

/** Waiting time of an acquire that names none, s, when filling is paused. */
const pausedWaitSeconds = 600;

/** Default of `acquire_timeout_seconds`: the time that the whole pool needs to fill at its rate. */
export const defaultAcquireTimeoutSeconds = (fill: Fill): number =>
  fill.fillRatePerMinute === 0 ? pausedWaitSeconds : Math.ceil((startIntervalMs(fill) * fill.size) / 1000);
