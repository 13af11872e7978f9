/**
 * Which projects have counted for what in the last hour (LOOKUP-87). A project could else outvote all others by the
 * number of its sessions. Pure but for its own memory; the caller passes the time in.
 */

const hourMs = 3_600_000;

/** Most that are remembered. When there are more, nothing counts until older ones are an hour old. */
const maxRemembered = 100_000;

type HourlyCounts = {
  /** Whether this one counts now. */
  mayCount(key: string, nowMs: number): boolean;
  /** It has counted. */
  note(key: string, nowMs: number): void;
};

/** Remembers nothing yet. `most`: see `maxRemembered`. */
export const createHourlyCounts = (most = maxRemembered): HourlyCounts => {
  /** In the order of their times. */
  const counted = new Map<string, number>();
  const forget = (nowMs: number): void => {
    for (const [key, sinceMs] of counted) {
      if (nowMs - sinceMs < hourMs) return;
      counted.delete(key);
    }
  };
  return {
    mayCount(key, nowMs) {
      forget(nowMs);
      return !counted.has(key) && counted.size < most;
    },
    note: (key, nowMs) => void counted.set(key, nowMs),
  };
};
