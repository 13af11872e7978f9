/** What was wanted of a pool in its quiet time: the size falls to the highest of it, so a load that comes and goes moves nothing. */

/** A size that was wanted. `atMs`: by a clock that is never set. */
export type WantedSize = { atMs: number; size: number };

/** Parts of a quiet time of which only the highest is kept: so many are kept at most, and one more. */
const parts = 60;

/**
 * Adds a wanted size and drops what no longer counts: what is older than the quiet time, and what is not above a later one. Oldest and highest
 * first. Within a part of the quiet time the highest stands for all, until that part's last moment: a size falls by that much later.
 */
export const remember = (
  recent: readonly WantedSize[],
  { atMs, size }: WantedSize,
  quietMs: number,
): readonly WantedSize[] => {
  const partOf = (ms: number): number => Math.floor((ms * parts) / quietMs);
  const higher = recent.filter((one) => atMs - one.atMs <= quietMs && one.size > size);
  const last = higher.at(-1);
  if (last && partOf(last.atMs) === partOf(atMs)) return [...higher.slice(0, -1), { atMs, size: last.size }];
  return [...higher, { atMs, size }];
};

/** The highest that was wanted in the quiet time, by what `remember` returned. */
export const highestOf = (recent: readonly WantedSize[]): number => recent[0]?.size ?? 0;
