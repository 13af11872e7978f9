/**
 * Sessions whose callers will not have them: gone, told of an error, or never reached by their answer. They are taken out of
 * everything that they may be in, in the background and again while Redis is away, so that no caller waits for it.
 */
import type { Logger } from "../log.ts";
import { whileUnavailable } from "../redis/while-unavailable.ts";
import { endOnAgent, type ReleaseDeps } from "./release-lease.ts";

export type AbandonedSessions = {
  /** Begins to take a session back. */
  add(poolUid: string, session: string): void;
  /** Waits for all that were begun, `withinMs` at most; what is left then stays to the operator's audit. */
  drain(withinMs: number): Promise<void>;
};

/** With 0.1 s to 5 s between them: about a minute. What is left then is found by the operator's audit. */
const tries = 16;

/** Starts nothing by itself. A session that all tries fail for is logged and left to the operator. */
export const createAbandonedSessions = (deps: ReleaseDeps & { log: Logger }): AbandonedSessions => {
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  const takeBack = async (poolUid: string, session: string): Promise<void> => {
    const { kind } = await deps.store.cancel(poolUid, session);
    if (kind !== "granted") return;
    // The bind may or may not have reached the agent, so the browser goes the way of a release: the agent confirms first.
    const lease = await deps.store.release(poolUid, session, "releasing", "released");
    if (lease) await endOnAgent(poolUid, lease, deps);
  };
  return {
    add(poolUid, session) {
      const work = whileUnavailable(() => takeBack(poolUid, session), { tries, signal: stopping.signal })
        .catch((err: unknown) => deps.log.warn({ err, session }, "an abandoned session is left to the audit"))
        .finally(() => running.delete(work));
      running.add(work);
    },
    async drain(withinMs) {
      const deadline = setTimeout(() => stopping.abort(new Error("the service stops")), withinMs);
      // One that ends can't begin another one, but requests that end meanwhile can.
      while (running.size > 0) await Promise.all(running);
      clearTimeout(deadline);
    },
  };
};
