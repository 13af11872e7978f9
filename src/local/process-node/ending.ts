/** The wish that something ends, which may come before there is anything to end and may become more urgent later. */
export type Ending = {
  /** Aborted by the first wish. */
  signal: AbortSignal;
  /** Of several graces, ms, the shortest one counts. */
  wish(graceMs: number): void;
  /** Calls `listener` with every grace that counts, at once when there is one already. One listener at most. */
  onWish(listener: (graceMs: number) => void): void;
};

export const createEnding = (): Ending => {
  const wished = new AbortController();
  let shortestMs = Number.POSITIVE_INFINITY;
  let tell: (graceMs: number) => void = () => undefined;
  return {
    signal: wished.signal,
    wish(graceMs) {
      if (graceMs >= shortestMs) return;
      shortestMs = graceMs;
      wished.abort();
      tell(graceMs);
    },
    onWish(listener) {
      tell = listener;
      if (wished.signal.aborted) listener(shortestMs);
    },
  };
};
