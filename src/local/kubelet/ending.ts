/** How to end a process: SIGTERM ends it in order, SIGINT at once; SIGKILL follows after the grace, ms. */
export type EndRequest = { graceMs: number; signal: "SIGTERM" | "SIGINT" };

/** The requests to end a process. The first may come before the process has started; later ones may be more urgent. */
export type Ending = {
  /** Aborted by the first request. */
  signal: AbortSignal;
  /** Of several graces the shortest counts, and SIGINT is never taken back. `signal`: SIGTERM by default. */
  request(graceMs: number, signal?: EndRequest["signal"]): void;
  /** Calls `listener` with each request that is more urgent, and at once if there is one already. At most one listener. */
  onRequest(listener: (request: EndRequest) => void): void;
};

/** An ending that nobody has asked for yet. */
export const createEnding = (): Ending => {
  const requested = new AbortController();
  let urgent: EndRequest = { graceMs: Number.POSITIVE_INFINITY, signal: "SIGTERM" };
  let notify: (request: EndRequest) => void = () => undefined;
  return {
    signal: requested.signal,
    request(graceMs, signal = urgent.signal) {
      const isMoreUrgent = graceMs < urgent.graceMs || (signal === "SIGINT" && urgent.signal !== "SIGINT");
      if (!isMoreUrgent) return;
      urgent = {
        graceMs: Math.min(graceMs, urgent.graceMs),
        signal: urgent.signal === "SIGINT" ? urgent.signal : signal,
      };
      requested.abort();
      notify(urgent);
    },
    onRequest(listener) {
      notify = listener;
      if (requested.signal.aborted) listener(urgent);
    },
  };
};
