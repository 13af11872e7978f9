/** The signals by which an agent is told to end. They are never taken back. */
export type StopSignals = {
  /** SIGTERM, which a kubelet sends to a drained or deleted pod: the agent may serve its lease for a while. */
  asked: AbortSignal;
  /** SIGINT, or a second SIGTERM: the agent ends at once. `asked` is then aborted too. */
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
