/** What came of a session's first navigation, for its lease and some minutes more. Sessions that do not allow it are not looked at. */
import type { BindLease, SeenOutcome } from "../protocol/agent-api.ts";

/** How long an outcome is told, ms: the operator asks once a minute. */
const toldMs = 600_000;

/** Watches a session until `signal` is aborted; calls `note` with what came of it. Never rejects. */
export type ObserveSession = (
  lease: Pick<BindLease, "start_url">,
  note: (seen: Omit<SeenOutcome, "session_id"> | undefined) => void,
  signal: AbortSignal,
) => Promise<void>;

type HolderObservation = {
  /** Begins with a lease: forgets the one before, and watches if this one allows it. */
  begin(lease: BindLease): void;
  /** The lease is over: what was seen so far stays. */
  end(): void;
  /** The browser is no longer as it was made: nothing is told of its lease. */
  forget(): void;
  outcome(): SeenOutcome | undefined;
};

/** Nothing is watched yet. */
export const createHolderObservation = (observe: ObserveSession | undefined): HolderObservation => {
  let watching: AbortController | undefined;
  let seen: { outcome: SeenOutcome; sinceMs: number } | undefined;
  const end = (): void => {
    watching?.abort();
    watching = undefined;
  };
  const forget = (): void => {
    end();
    seen = undefined;
  };
  return {
    begin(lease) {
      forget();
      if (!lease.observe || !observe) return;
      const mine = new AbortController();
      watching = mine;
      const { session_id } = lease;
      const note: Parameters<ObserveSession>[1] = (found) => {
        if (mine.signal.aborted) return;
        seen = found && { outcome: { session_id, ...found }, sinceMs: seen?.sinceMs ?? performance.now() };
      };
      void observe(lease, note, mine.signal);
    },
    end,
    forget,
    outcome: () => (seen && performance.now() - seen.sinceMs < toldMs ? seen.outcome : undefined),
  };
};
