/**
 * Sessions that no caller uses: the caller hung up, got an error, or its answer was lost. The replica takes each of
 * them out of the queue, or ends its lease. It works in the background and repeats while Redis is away, so no caller
 * waits for it.
 */
import type { Logger } from "../../platform/base/log.ts";
import { createBackgroundRetries } from "../../platform/redis/background-retries.ts";
import { type ReleaseDeps, releaseLease } from "./release-lease.ts";

export type AbandonedSessions = {
  /** Begins to take a session back and returns at once. */
  add(poolUid: string, session: string): void;
  /** Waits until all sessions are taken back; no try begins after `withinMs`. The operator's audit finds the rest. */
  drain(withinMs: number): Promise<void>;
};

/** About a minute, with pauses of 0.1 s to 5 s. The operator's audit finds what is left then. */
const tries = 16;

/**
 * Does nothing before `add`. When all tries for a session fail, it logs that and leaves the session to the operator.
 */
export const createAbandonedSessions = (deps: ReleaseDeps & { log: Logger }): AbandonedSessions => {
  const { add, drain } = createBackgroundRetries();

  const abandon = async (poolUid: string, session: string): Promise<void> => {
    const { kind } = await deps.store.cancel(poolUid, session);
    if (kind !== "granted") return;
    // The bind may have reached the agent, so release the browser like any other: the agent confirms before the offer.
    await releaseLease({ poolUid, session, reuse: "reset", reason: "released" }, deps);
  };
  return {
    add: (poolUid, session) =>
      void add(() => abandon(poolUid, session), { tries }).catch((err: unknown) =>
        deps.log.warn({ err, session }, "an abandoned session is left to the audit"),
      ),
    drain,
  };
};
