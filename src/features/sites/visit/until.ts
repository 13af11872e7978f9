import { setTimeout as sleep } from "node:timers/promises";
import { awaitWith } from "../../../platform/base/retry.ts";
import type { PageWatch } from "./watch-page.ts";

/** A page that has told nothing for this long, ms, is quiet if it is calm. */
const stillMs = 500;

/** What was waited for takes too long. */
export class TooLate extends Error {}

/** Waits for what the page's events tell. `over`: aborted when the visit ends; every wait rejects then. */
export type Waits = {
  /** Resolves when `holds` does, or after `ms`; with whether it does. */
  until(holds: () => boolean, ms?: number): Promise<boolean>;
  /** Resolves when the page loads nothing more, or after `ms`. */
  quiet(ms: number): Promise<void>;
  /** Settles as `promise` does, or rejects with `TooLate` after `ms`. */
  within<T>(promise: Promise<T>, ms: number): Promise<T>;
};

/** The waits of one visit. */
export const createWaits = (watch: PageWatch, over: AbortSignal): Waits => {
  const listeners = new Set<() => void>();
  watch.onChange(() => {
    for (const listener of listeners) listener();
  });
  const until: Waits["until"] = async (holds, ms) => {
    over.throwIfAborted();
    if (holds()) return true;
    const done = Promise.withResolvers<boolean>();
    const check = (): void => {
      if (holds()) done.resolve(true);
    };
    const abort = (): void => done.reject(over.reason);
    const timer = ms === undefined ? undefined : setTimeout(() => done.resolve(false), ms);
    listeners.add(check);
    over.addEventListener("abort", abort);
    try {
      return await done.promise;
    } finally {
      clearTimeout(timer);
      listeners.delete(check);
      over.removeEventListener("abort", abort);
    }
  };
  const quiet: Waits["quiet"] = async (ms) => {
    const deadline = performance.now() + ms;
    let seen = 0;
    let events = -1;
    const count = (): void => {
      seen += 1;
    };
    listeners.add(count);
    try {
      while ((events !== seen || !watch.isCalm()) && performance.now() < deadline) {
        events = seen;
        await sleep(stillMs, undefined, { signal: over });
      }
    } catch {
      over.throwIfAborted();
    } finally {
      listeners.delete(count);
    }
  };
  const within: Waits["within"] = async (promise, ms) => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new TooLate()), ms);
    try {
      return await awaitWith(promise, AbortSignal.any([over, late.signal]));
    } finally {
      clearTimeout(timer);
    }
  };
  return { until, quiet, within };
};
