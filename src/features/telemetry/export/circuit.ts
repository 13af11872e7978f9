/**
 * Whether a destination may be tried; pure. One failure opens the circuit for all sessions that export there, and then one batch at a time
 * finds out whether the destination is back:
 *
 *                 failure                      time is up, one batch goes
 *   closed ───────────────────► open ─────────────────────────────────────► probing
 *      ▲                          ▲                  failure                  │ │
 *      │                          └───────────────────────────────────────────┘ │
 *      └────────────────────────────────── success ─────────────────────────────┘
 */

/** `failures`: in a row. `openUntilMs`: the next try; in the past, the circuit is closed or probing. */
export type Circuit = { failures: number; openUntilMs: number };

/** Of a destination that works, or was never tried. */
export const closedCircuit: Circuit = { failures: 0, openUntilMs: 0 };

/** Pauses after failures in a row, ms: they double. */
const firstPauseMs = 1000;
const longestPauseMs = 8000;

/** `running`: batches on their way. */
export const mayTry = ({ failures, openUntilMs }: Circuit, running: number, nowMs: number): boolean =>
  failures === 0 || (running === 0 && nowMs >= openUntilMs);

/**
 * After a failure. `retryAfterMs`: of the receiver, 0 for none. `random`: from 0 to 1; replicas of the service must not come back at
 * once.
 */
export const afterFailure = (
  { failures }: Circuit,
  { nowMs, retryAfterMs, random }: { nowMs: number; retryAfterMs: number; random: number },
): Circuit => {
  const backOffMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 10)) * (0.5 + random / 2);
  return { failures: failures + 1, openUntilMs: nowMs + Math.max(backOffMs, retryAfterMs) };
};
