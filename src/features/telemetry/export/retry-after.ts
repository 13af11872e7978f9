/** Longest pause that a receiver may ask for, ms: beyond it, a new try tells more. */
const maxPauseMs = 5 * 60_000;

/** The pause that a `Retry-After` asks for, in seconds or by a date; 0 when it is none. `nowMs`: since the epoch. */
export const retryAfterMs = (text: string | undefined, nowMs: number): number => {
  if (text === undefined) return 0;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return ms > 0 ? Math.min(ms, maxPauseMs) : 0;
};
