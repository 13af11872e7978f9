/**
 * Expectations close the gap between a write and the moment when the watch shows it: a controller that counted only
 * its cache would create the same missing pod again and again.
 *
 * A name is recorded *before* the call that creates it, lowered when the watch brings it, dropped when the call fails,
 * and expires, so that an event that never comes cannot hold a controller up for ever.
 */

/** After this time, ms, an unseen creation is taken for lost. Shorter risks a double start under a slow watch, longer delays a replacement. */
const expiryMs = 60_000;

export type Expectations = {
  /** Notes that the owner is about to create an object of this name. */
  expect(owner: string, name: string): void;
  /** The watch has shown the object, or its creation failed. */
  creationObserved(owner: string, name: string): void;
  /** Creations of the owner that the watch has not shown yet. */
  pending(owner: string): number;
  forget(owner: string): void;
};

/** `now`: monotonic time in ms. */
export const createExpectations = (now: () => number = () => performance.now()): Expectations => {
  const byOwner = new Map<string, Map<string, number>>();
  return {
    expect(owner, name) {
      const names = byOwner.get(owner) ?? new Map<string, number>();
      byOwner.set(owner, names.set(name, now()));
    },
    creationObserved: (owner, name) => void byOwner.get(owner)?.delete(name),
    pending(owner) {
      const names = byOwner.get(owner);
      for (const [name, sinceMs] of names ?? []) if (now() - sinceMs > expiryMs) names?.delete(name);
      return names?.size ?? 0;
    },
    forget: (owner) => void byOwner.delete(owner),
  };
};
