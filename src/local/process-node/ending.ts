/** How something is told to end: by SIGTERM in order, by SIGINT at once; by SIGKILL after the grace, ms. */
export type EndWish = { graceMs: number; signal: "SIGTERM" | "SIGINT" };

/** The wish that something ends, which may come before there is anything to end and may become more urgent later. */
export type Ending = {
  /** Aborted by the first wish. */
  signal: AbortSignal;
  /** Of several graces the shortest one counts; what was wished at once stays so. `signal`: left out, SIGTERM. */
  wish(graceMs: number, signal?: EndWish["signal"]): void;
  /** Calls `listener` with every wish that counts, at once when there is one already. One listener at most. */
  onWish(listener: (wish: EndWish) => void): void;
};

/** An ending that nobody has asked for yet. */
export const createEnding = (): Ending => {
  const wished = new AbortController();
  let urgent: EndWish = { graceMs: Number.POSITIVE_INFINITY, signal: "SIGTERM" };
  let tell: (wish: EndWish) => void = () => undefined;
  return {
    signal: wished.signal,
    wish(graceMs, signal = urgent.signal) {
      const isNews = graceMs < urgent.graceMs || (signal === "SIGINT" && urgent.signal !== "SIGINT");
      if (!isNews) return;
      urgent = {
        graceMs: Math.min(graceMs, urgent.graceMs),
        signal: urgent.signal === "SIGINT" ? urgent.signal : signal,
      };
      wished.abort();
      tell(urgent);
    },
    onWish(listener) {
      tell = listener;
      if (wished.signal.aborted) listener(urgent);
    },
  };
};
