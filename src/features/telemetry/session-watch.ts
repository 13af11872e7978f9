/**
 * Whether sessions have new events, and whether they have ended: one loop for each session that has readers here,
 * however many they are. It looks four times a second for events, and every two seconds for the lease.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type LeaseStateDeps, leaseState } from "../../core/collecting/lease-state.ts";
import { awaitWith } from "../../platform/base/retry.ts";
import type { CollectClaims, Collected } from "../../platform/redis/collect-claims.ts";
import type { TelemetryStore } from "./telemetry-store.ts";

/** What is known of a session. `last`: the number of its last event. `isOver`: no further event comes. */
type WatchedState = { last: number; isOver: boolean };

export type SessionWatches = {
  /** Begins to look after this session, or shares the loop of another reader. The caller must call `leave`. */
  join(collected: Collected): SessionWatch;
};

/** The session as one reader sees it. */
type SessionWatch = {
  /** Resolves when there is an event after this number, or none comes any more. Rejects with the reason of `signal`. */
  next(after: number, signal: AbortSignal): Promise<WatchedState>;
  leave(): void;
};

const lookMs = 250;
const leaseEveryMs = 2000;

/**
 * How long after its lease a session that is collected counts as going on without a noted end, ms: its last events come
 * meanwhile.
 */
const graceMs = 10_000;

type Loop = { readers: number; state: WatchedState; changed: PromiseWithResolvers<void>; stop: AbortController };

type Deps = LeaseStateDeps & { events: TelemetryStore; claims: Pick<CollectClaims, "isClaimed"> };

/** Does nothing before `join`. */
export const createSessionWatches = ({ events, claims, ...deps }: Deps): SessionWatches => {
  const loops = new Map<string, Loop>();

  const tell = (loop: Loop, state: WatchedState): void => {
    if (state.last === loop.state.last && state.isOver === loop.state.isOver) return;
    loop.state = state;
    loop.changed.resolve();
    loop.changed = Promise.withResolvers();
  };
  /** When the lease was over, by `performance.now()`; undefined while it is not. */
  const overSince = async (collected: Collected, before: number | undefined): Promise<number | undefined> => {
    if ((await leaseState(collected, deps)).kind !== "over") return undefined;
    return (await claims.isClaimed(collected.session)) ? (before ?? performance.now()) : -Infinity;
  };
  const run = async (collected: Collected, loop: Loop): Promise<void> => {
    let leaseAtMs = -Infinity;
    let overSinceMs: number | undefined;
    const look = async (): Promise<void> => {
      if (performance.now() - leaseAtMs >= leaseEveryMs) {
        overSinceMs = await overSince(collected, overSinceMs);
        leaseAtMs = performance.now();
      }
      // After the lease: what came before its end is seen.
      const { last, hasEnded } = await events.read(collected.session, { order: "desc", count: 0 });
      const isLong = overSinceMs !== undefined && performance.now() - overSinceMs >= graceMs;
      tell(loop, { last, isOver: hasEnded || isLong });
    };
    while (!loop.stop.signal.aborted) {
      // Redis is away: the readers wait.
      await look().catch(() => undefined);
      await sleep(lookMs, undefined, { signal: loop.stop.signal }).catch(() => undefined);
    }
  };

  const join = (collected: Collected): SessionWatch => {
    const { session } = collected;
    let loop = loops.get(session);
    if (!loop) {
      loop = {
        readers: 0,
        state: { last: 0, isOver: false },
        changed: Promise.withResolvers(),
        stop: new AbortController(),
      };
      loops.set(session, loop);
      void run(collected, loop);
    }
    const joined = loop;
    joined.readers += 1;
    return {
      async next(after, signal) {
        while (joined.state.last <= after && !joined.state.isOver) await awaitWith(joined.changed.promise, signal);
        return joined.state;
      },
      leave() {
        joined.readers -= 1;
        if (joined.readers > 0) return;
        joined.stop.abort();
        loops.delete(session);
      },
    };
  };
  return { join };
};
