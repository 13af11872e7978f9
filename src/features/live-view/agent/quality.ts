/**
 * The quality of a tab's pictures. It follows the fastest of its viewers: a slow one gets fewer pictures, and must not make those of the
 * others worse.
 */

/** Of JPEG; a step up needs half again as many bytes. */
const qualities = [35, 50, 65, 80] as const;

/** Of a tab that nobody has acknowledged a picture of yet. */
export const firstQuality = 65;

/** A picture that takes longer than this to be drawn is too large for the way, ms; one that takes less than the other could be larger. */
const slowMs = 200;
const fastMs = 60;

/** The quality after one in which the fastest viewer took `ackMs` from a picture to its `ack`. */
export const nextQuality = (present: number, ackMs: number): number => {
  const at = (qualities as readonly number[]).indexOf(present);
  const step = ackMs > slowMs ? -1 : ackMs < fastMs ? 1 : 0;
  return qualities[Math.min(qualities.length - 1, Math.max(0, at + step))] ?? firstQuality;
};

/** The mean of a viewer's times, in which the latest ones count most. */
export const meanOf = (mean: number | undefined, latestMs: number): number =>
  mean === undefined ? latestMs : mean * 0.8 + latestMs * 0.2;
