/** How an agent is told to end. Both are for good. */
export type StopSignals = {
  /** SIGTERM, as a kubelet sends it to a pod that is drained or deleted: a lease that is held may be served on for a while. */
  asked: AbortSignal;
  /** SIGINT, or a second SIGTERM: nothing is served any more. It comes with `asked`. */
  atOnce: AbortSignal;
};

/** Listens to the signals of this process from now on. */
export const listenForStop = (): StopSignals => {
  const asked = new AbortController();
  const atOnce = new AbortController();
  process.on("SIGTERM", () => (asked.signal.aborted ? atOnce : asked).abort());
  process.on("SIGINT", () => {
    atOnce.abort();
    asked.abort();
  });
  return { asked: asked.signal, atOnce: atOnce.signal };
};
