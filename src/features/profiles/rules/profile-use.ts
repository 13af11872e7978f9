/** How exact the time of a profile's last use is, ms. */
const exactMs = 60_000;

/** Whether a use at `nowMs` is worth a note. Both in ms since the epoch; `lastMs`: of the last note, 0 for none. */
export const isNewUse = (lastMs: number, nowMs: number): boolean => nowMs - lastMs >= exactMs;
