/** What was wanted of a pool in its quiet time: the size falls to the highest of it, so a load that comes and goes moves nothing. */

/** A size that was wanted until a moment. `atMs`: by a clock that is never set. */
export type WantedSize = { atMs: number; size: number };

/**
 * What is remembered. `steps`: oldest and highest first, each higher than all later ones. `now`: what is wanted since the last decision; it
 * counts until the next one, however long that takes.
 */
export type QuietTime = { steps: readonly WantedSize[]; now: number };

/** Parts of a quiet time of which only the highest is kept: so many steps are kept at most, and one more. */
const parts = 60;

/** Within a part of the quiet time the highest stands for all, until that part's last moment: a size falls by that much later. */
const withStep = (steps: readonly WantedSize[], { atMs, size }: WantedSize, quietMs: number): readonly WantedSize[] => {
  const partOf = (ms: number): number => Math.floor((ms * parts) / quietMs);
  const higher = steps.filter((one) => one.size > size);
  const last = higher.at(-1);
  if (last && partOf(last.atMs) === partOf(atMs)) return [...higher.slice(0, -1), { atMs, size: last.size }];
  return [...higher, { atMs, size }];
};

/** What is remembered at the beginning: a size that is wanted until something else is. */
export const beginQuietTime = (size: number): QuietTime => ({ steps: [], now: size });

/** Adds what is wanted now, and drops what no longer counts: what is older than the quiet time, and what is not above a later one. */
export const remember = ({ steps, now }: QuietTime, { atMs, size }: WantedSize, quietMs: number): QuietTime => {
  const young = steps.filter((one) => atMs - one.atMs <= quietMs);
  const until = withStep(young, { atMs, size: now }, quietMs);
  return { steps: size > now ? withStep(until, { atMs, size }, quietMs) : until, now: size };
};

/** The highest that was wanted in the quiet time, by what `remember` returned. */
export const highestOf = ({ steps, now }: QuietTime): number => Math.max(now, steps[0]?.size ?? 0);
