/** How something is told to end: by SIGTERM in order, by SIGINT at once; by SIGKILL after the grace, ms. */
export type EndRequest = { graceMs: number; signal: "SIGTERM" | "SIGINT" };

/** The request that something ends, which may come before there is anything to end and may become more urgent later. */
export type Ending = {
  /** Aborted by the first request. */
  signal: AbortSignal;
  /** Of several graces the shortest one counts; what was requested at once stays so. `signal`: left out, SIGTERM. */
  request(graceMs: number, signal?: EndRequest["signal"]): void;
  /** Calls `listener` with every request that counts, at once when there is one already. One listener at most. */
  onRequest(listener: (request: EndRequest) => void): void;
};

/** An ending that nobody has asked for yet. */
export const createEnding = (): Ending => {
  const requested = new AbortController();
  let urgent: EndRequest = { graceMs: Number.POSITIVE_INFINITY, signal: "SIGTERM" };
  let tell: (request: EndRequest) => void = () => undefined;
  return {
    signal: requested.signal,
    request(graceMs, signal = urgent.signal) {
      const isNews = graceMs < urgent.graceMs || (signal === "SIGINT" && urgent.signal !== "SIGINT");
      if (!isNews) return;
      urgent = {
        graceMs: Math.min(graceMs, urgent.graceMs),
        signal: urgent.signal === "SIGINT" ? urgent.signal : signal,
      };
      requested.abort();
      tell(urgent);
    },
    onRequest(listener) {
      tell = listener;
      if (requested.signal.aborted) listener(urgent);
    },
  };
};
