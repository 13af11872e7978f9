import { type Bag, createBag } from "./bag.ts";

/**
 * Aborts controllers of short lives with signals of long ones. `AbortSignal.any` leaves each signal that it made, with
 * all that listens to it, to the collector of the old generation: 1000 requests a second survive until it comes.
 */
const followers = new WeakMap<AbortSignal, Bag<AbortController>>();

const followersOf = (source: AbortSignal): Bag<AbortController> => {
  const known = followers.get(source);
  if (known) return known;
  const all = createBag<AbortController>();
  followers.set(source, all);
  const abort = (): void => {
    for (const controller of all.items()) controller.abort(source.reason);
  };
  source.addEventListener("abort", abort, { once: true });
  return all;
};

/** Aborts `controller` with the reason of `source` once that is aborted; until then it must be let go by the result. */
export const abortWith = (controller: AbortController, source: AbortSignal): (() => void) => {
  if (source.aborted) controller.abort(source.reason);
  return followersOf(source).add(controller);
};
