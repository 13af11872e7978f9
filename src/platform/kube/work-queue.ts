/**
 * A work queue of keys for controllers.
 *
 *   add ──► waiting (each key once) ──► active ──► done
 *                 ▲                       │ added meanwhile: back to waiting, once
 *                 └── delayed: `delayMs`, `requeueAfterMs`, or the back-off of a key whose work threw
 *
 * The queue never works on one key twice at the same time. Of several delays for a key, the earliest end counts; a
 * success clears its back-off. `addBatched` is independent of that: it adds the key after its whole delay, even if the
 * key was worked on meanwhile. Requests during that delay add the key once more, two delays later: a single change is
 * handled soon, and a stream of changes costs little.
 *
 * A queue may have lanes, each with its own number of keys that are worked on at the same time: slow work of one kind
 * delays none of another kind. Within a lane keys are taken in the order in which they came.
 */
import type { Logger } from "../base/log.ts";

/**
 * `limits`: keys worked on at the same time, by lane. `of`: the lane of a key now; asked each time that the key is
 * added.
 */
type Lanes<Lane extends string = string> = { limits: Readonly<Record<Lane, number>>; of(key: string): Lane };

type Taken = { key: string; leave(): void };

/** The keys that wait, each once, and how many of each lane are worked on. */
type WaitingKeys = {
  /** A key that waits in another lane changes over to its present one. */
  add(key: string): void;
  /** The keys for which there is room now. `leave` makes room again. */
  take(): Generator<Taken>;
  size(): number;
  clear(): void;
};

/** No key yet. `concurrency`: keys worked on at the same time, in all or by lane. */
export const createWaitingKeys = (concurrency: number | Lanes): WaitingKeys => {
  const { limits, of }: Lanes =
    typeof concurrency === "number" ? { limits: { all: concurrency }, of: () => "all" } : concurrency;
  const lanes = new Map(
    Object.entries(limits).map(([name, limit]) => [name, { limit, active: 0, keys: new Set<string>() }]),
  );
  const laneOf = new Map<string, string>();
  return {
    add(key) {
      const name = of(key);
      const before = laneOf.get(key);
      if (before === name) return;
      if (before !== undefined) lanes.get(before)?.keys.delete(key);
      lanes.get(name)?.keys.add(key);
      laneOf.set(key, name);
    },
    *take() {
      for (const lane of lanes.values())
        for (const key of lane.keys) {
          if (lane.active >= lane.limit) break;
          lane.keys.delete(key);
          laneOf.delete(key);
          lane.active += 1;
          const leave = (): void => {
            lane.active -= 1;
          };
          yield { key, leave };
        }
    },
    size: () => laneOf.size,
    clear() {
      for (const { keys } of lanes.values()) keys.clear();
      laneOf.clear();
    },
  };
};

/** The result of work on a key: work on it again after this time, ms; without it, only when the key is added. */
export type Requeue = { requeueAfterMs?: number };

export type Work = (key: string, signal: AbortSignal) => Promise<Requeue | undefined>;

export type WorkQueue = {
  add(key: string, delayMs?: number): void;
  /**
   * Adds the key once for many requests: at least one whole delay after each request, and at most three delays after
   * it. So a change that follows a request within the delay needs none of its own
   * (core/leases/scripts/includes/notify.lua).
   */
  addBatched(key: string, delayMs: number): void;
  /** Takes no more keys, aborts the signal of running work, and resolves when that work has ended. */
  stop(): Promise<void>;
};

/** Receives measurements of the queues of a process. */
export type WorkMeter = {
  /** Work on a key has ended. */
  worked(queue: string, result: "ok" | "error", seconds: number): void;
  /** The number of keys that wait now, without delayed ones. */
  waiting(queue: string, count: number): void;
};

type WorkQueueOptions = {
  name: string;
  work: Work;
  /** Keys worked on at the same time, in all or by lane. */
  concurrency: number | Lanes;
  log: Logger;
  meter?: WorkMeter | undefined;
};

const firstBackOffMs = 100;
const lastBackOffMs = 30_000;

/** A key comes back after a day at the latest, ms: Node fires a timer of more than 24 days at once. */
const longestDelayMs = 86_400_000;

/**
 * A queue that works on each key by one call at a time. A key whose work throws comes back after 0.1 s, doubling up to
 * 30 s.
 */
export const startWorkQueue = ({ name, work, concurrency, log, meter }: WorkQueueOptions): WorkQueue => {
  const waiting = createWaitingKeys(concurrency);
  const active = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const failures = new Map<string, number>();
  const delayed = new Map<string, { timer: NodeJS.Timeout; atMs: number }>();
  const batches = new Map<string, { timer: NodeJS.Timeout; isRequestedAgain: boolean }>();
  const stopping = new AbortController();

  const undelay = (key: string): void => {
    clearTimeout(delayed.get(key)?.timer);
    delayed.delete(key);
  };
  const delay = (key: string, askedMs: number): void => {
    const delayMs = Math.min(askedMs, longestDelayMs);
    const atMs = performance.now() + delayMs;
    const earlier = delayed.get(key);
    if (earlier && earlier.atMs <= atMs) return;
    undelay(key);
    delayed.set(key, { atMs, timer: setTimeout(() => add(key), delayMs) });
  };
  const add = (key: string, delayMs = 0): void => {
    if (stopping.signal.aborted) return;
    if (delayMs > 0) {
      delay(key, delayMs);
      return;
    }
    undelay(key);
    if (active.has(key)) again.add(key);
    else waiting.add(key);
    startWork();
  };
  const addBatched = (key: string, delayMs: number): void => {
    if (stopping.signal.aborted) return;
    const pending = batches.get(key);
    if (pending) pending.isRequestedAgain = true;
    else addAfterBatch(delayMs, key, delayMs);
  };
  const addAfterBatch = (waitMs: number, key: string, delayMs: number): void => {
    const endBatch = (): void => {
      batches.delete(key);
      if (pending.isRequestedAgain) addAfterBatch(2 * delayMs, key, delayMs);
      add(key);
    };
    const pending = { timer: setTimeout(endBatch, waitMs), isRequestedAgain: false };
    batches.set(key, pending);
  };
  const startWork = (): void => {
    for (const { key, leave } of waiting.take()) active.set(key, run(key, leave));
    meter?.waiting(name, waiting.size());
  };
  const run = async (key: string, leave: () => void): Promise<void> => {
    await null; // `active` must contain the key before the work begins
    const startMs = performance.now();
    const ended = (result: "ok" | "error"): void => meter?.worked(name, result, (performance.now() - startMs) / 1000);
    try {
      const next = await work(key, stopping.signal);
      ended("ok");
      failures.delete(key);
      if (next?.requeueAfterMs !== undefined) add(key, Math.max(1, next.requeueAfterMs));
    } catch (err) {
      ended("error");
      if (!stopping.signal.aborted) backOff(key, err);
    } finally {
      active.delete(key);
      leave();
      if (again.delete(key)) add(key);
      startWork();
    }
  };
  const backOff = (key: string, err: unknown): void => {
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    const retryMs = Math.min(firstBackOffMs * 2 ** (count - 1), lastBackOffMs);
    log.warn({ err, queue: name, object: key, retryMs }, "work failed; trying again");
    add(key, retryMs);
  };

  return {
    add,
    addBatched,
    async stop() {
      stopping.abort();
      for (const { timer } of batches.values()) clearTimeout(timer);
      for (const key of delayed.keys()) undelay(key);
      waiting.clear();
      meter?.waiting(name, 0);
      await Promise.all(active.values());
    },
  };
};
