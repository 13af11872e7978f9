/**
 * What this replica collects from agents: what it has begun, and that of replicas that are gone. It looks for that
 * every three seconds, and asks then whether others have taken over what it collects.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../platform/base/log.ts";
import type { CollectClaims, Collected } from "../../platform/redis/collect-claims.ts";
import { whileUnavailable } from "../../platform/redis/or-unavailable.ts";

export type ClaimedWork = {
  /** Collects from now on, and returns at once. */
  collect(collected: Collected): void;
  /** The same if no replica does, such as after a loss of Redis. */
  ensure(collected: Collected): Promise<void>;
  /** Stops; other replicas go on where it was. */
  stop(): Promise<void>;
};

/**
 * `run`: collects until all is collected, and is repeated by another replica when this one is gone. After its rejection
 * nobody collects until `ensure` is asked to. `most`: at once. `alsoLook`: further work of each look; it gets `ensure`.
 */
type ClaimedWorkDeps = {
  claims: CollectClaims;
  run(collected: Collected, signal: AbortSignal): Promise<void>;
  most: number;
  alsoLook?(ensure: ClaimedWork["ensure"]): Promise<void>;
  /** What it is, for the log. */
  what: string;
  log: Logger;
};

/** Time between two looks, ms; a quarter more or less, so that replicas don't look together. */
const lookMs = 3000;

/** What one look takes of dead replicas, so that others get some too; own claims that one look confirms. */
const takenAtOnce = 50;
const confirmedAtOnce = 200;

/** Time that the work has to stop, ms. */
const stopMs = 2000;

/** Begins to look. */
export const startClaimedWork = ({ claims, run, most, alsoLook, what, log }: ClaimedWorkDeps): ClaimedWork => {
  const running = new Map<string, { collected: Collected; stop: AbortController; done: Promise<void> }>();
  const stopped = new AbortController();
  let confirmed = 0;

  const runToEnd = async (collected: Collected, claimed: Promise<void>, signal: AbortSignal): Promise<void> => {
    try {
      await run(collected, signal);
    } finally {
      // A claim that came after its end would stay.
      await claimed.catch(() => undefined);
      if (!signal.aborted)
        await whileUnavailable(() => claims.end(collected.session), { maxPauseMs: 2000, signal }).catch(
          () => undefined,
        );
    }
  };
  /** Of what this replica has claimed, or claims now. */
  const begin = (collected: Collected, claimed = Promise.resolve()): void => {
    const { session } = collected;
    if (running.has(session) || stopped.signal.aborted) return;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, stopped.signal]);
    const done = runToEnd(collected, claimed, signal)
      .catch((err: unknown) => {
        if (!signal.aborted) log.error({ err, session_id: session }, `${what} are not collected`);
      })
      .finally(() => running.delete(session));
    running.set(session, { collected, stop, done });
  };
  const claim = async (collected: Collected): Promise<void> => {
    const hasRoom = running.size < most;
    const claimed = whileUnavailable(() => (hasRoom ? claims.claim(collected) : claims.offer(collected)), {
      maxPauseMs: 2000,
      tries: 5,
      signal: stopped.signal,
    });
    if (hasRoom) begin(collected, claimed);
    await claimed;
  };
  const ensure = async (collected: Collected): Promise<void> => {
    if (!running.has(collected.session) && (await claims.claimFree(collected))) begin(collected);
  };
  const confirm = async (): Promise<void> => {
    const all = [...running.values()].map(({ collected }) => collected);
    if (confirmed >= all.length) confirmed = 0;
    const some = all.slice(confirmed, confirmed + confirmedAtOnce);
    confirmed += confirmedAtOnce;
    for (const session of await claims.confirm(some)) running.get(session)?.stop.abort();
  };
  const look = async (): Promise<void> => {
    const room = Math.min(takenAtOnce, most - running.size);
    for (const collected of await claims.takeOver(room)) begin(collected);
    await confirm();
    await alsoLook?.(ensure);
  };
  const lookAgainAndAgain = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await look().catch((err: unknown) => log.debug({ err }, `no look at what is collected: ${what}`));
      await sleep(lookMs * (0.75 + Math.random() / 2), undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  };
  const looking = lookAgainAndAgain();

  return {
    collect(collected) {
      claim(collected).catch(() => undefined);
    },
    ensure,
    async stop() {
      stopped.abort();
      const all = Promise.all([looking, ...[...running.values()].map(({ done }) => done)]);
      await Promise.race([all, sleep(stopMs, undefined, { ref: false })]);
      await claims.leave().catch(() => undefined);
    },
  };
};
