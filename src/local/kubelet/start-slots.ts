/** Limits how many starts run at the same time; waiting starts get their slots in order. */
export type StartSlots = {
  /** Resolves with a function that gives the slot back, which may be called repeatedly; undefined if `signal` is aborted first. */
  take(signal: AbortSignal): Promise<(() => void) | undefined>;
};

/** `count`: starts at the same time, 1 or more. */
export const createStartSlots = (count: number): StartSlots => {
  let free = count;
  const waiting = new Set<() => void>();

  const giveBack = (): void => {
    free++;
    const [next] = waiting;
    next?.();
  };
  const occupy = (): (() => void) => {
    free--;
    let held = true;
    return () => {
      if (held) giveBack();
      held = false;
    };
  };
  return {
    take(signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      if (free > 0) return Promise.resolve(occupy());
      return new Promise((resolve) => {
        const giveUp = (): void => {
          waiting.delete(proceed);
          resolve(undefined);
        };
        const proceed = (): void => {
          waiting.delete(proceed);
          signal.removeEventListener("abort", giveUp);
          resolve(occupy());
        };
        waiting.add(proceed);
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
  };
};
