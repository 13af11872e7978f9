/**
 * Expectations bridge the time between a write and the moment when the watch shows it: a controller that counted only
 * its cache would create the same missing pod again and again.
 *
 * The controller records a name *before* the call that creates the object. It removes the name when the watch shows the
 * object or the call fails. A call that is not answered has perhaps created it: the name stays until the controller has
 * looked. A name also expires, so an event that never comes can't block a controller for ever.
 */

/**
 * An object that the watch has not shown after this time, ms, counts as lost. A shorter time risks a double start under
 * a slow watch, a longer one delays a replacement.
 */
const expiryMs = 60_000;

export type Expectations = {
  /** Records that the controller is about to create an object of this name for the owner. */
  expect(owner: string, name: string): void;
  /** The watch has shown the object, or its creation failed. */
  creationObserved(owner: string, name: string): void;
  /** The call that creates the object was not answered: it counts until that is known. */
  markUnanswered(owner: string, name: string): void;
  /** The owner's creations whose calls were not answered. `forMs`: since the call failed. */
  unanswered(owner: string): { name: string; forMs: number }[];
  /** The number of the owner's creations that the watch has not shown yet. */
  pending(owner: string): number;
  /** The names of those creations. */
  pendingNames(owner: string): string[];
  forget(owner: string): void;
};

/** `now`: monotonic time in ms. */
export const createExpectations = (now: () => number = () => performance.now()): Expectations => {
  type Times = { sinceMs: number; failedMs?: number };
  const byOwner = new Map<string, Map<string, Times>>();
  const living = (owner: string): Map<string, Times> | undefined => {
    const names = byOwner.get(owner);
    for (const [name, { sinceMs }] of names ?? []) if (now() - sinceMs > expiryMs) names?.delete(name);
    return names;
  };
  return {
    expect(owner, name) {
      const names = byOwner.get(owner) ?? new Map<string, Times>();
      byOwner.set(owner, names.set(name, { sinceMs: now() }));
    },
    creationObserved: (owner, name) => void byOwner.get(owner)?.delete(name),
    markUnanswered(owner, name) {
      const times = byOwner.get(owner)?.get(name);
      if (times) times.failedMs = now();
    },
    unanswered: (owner) =>
      [...(living(owner) ?? [])].flatMap(([name, { failedMs }]) =>
        failedMs === undefined ? [] : [{ name, forMs: now() - failedMs }],
      ),
    pending: (owner) => living(owner)?.size ?? 0,
    pendingNames: (owner) => [...(living(owner)?.keys() ?? [])],
    forget: (owner) => void byOwner.delete(owner),
  };
};
