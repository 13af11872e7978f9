/**
 * The gate before one destination: a few batches at once, in the order of asking, and the circuit
 * (destination-gate.ts).
 */
import { awaitWith } from "../../../platform/base/retry.ts";
import type { ExportOutcome } from "./otlp-exporter.ts";

// Whether a destination may be tried; pure. One failure opens the circuit for all sessions that export there, and then
// one batch at a time finds out whether the destination is back:
//
//                 failure                      time is up, one batch goes
//   closed ───────────────────► open ─────────────────────────────────────► probing
//      ▲                          ▲                  failure                  │ │
//      │                          └───────────────────────────────────────────┘ │
//      └────────────────────────────────── success ─────────────────────────────┘

/** `failures`: in a row. `openUntilMs`: the next try; in the past, the circuit is closed or probing. */
type Circuit = { failures: number; openUntilMs: number };

/** Of a destination that works, or was never tried. */
const closedCircuit: Circuit = { failures: 0, openUntilMs: 0 };

/** Pauses after failures in a row, ms: they double. */
const firstPauseMs = 1000;
const longestPauseMs = 8000;

/** `running`: batches on their way. */
const mayTry = ({ failures, openUntilMs }: Circuit, running: number, nowMs: number): boolean =>
  failures === 0 || (running === 0 && nowMs >= openUntilMs);

/**
 * After a failure. `retryAfterMs`: of the receiver, 0 for none. `random`: from 0 to 1; replicas of the service must not
 * come back at once.
 */
const afterFailure = (
  { failures }: Circuit,
  { nowMs, retryAfterMs, random }: { nowMs: number; retryAfterMs: number; random: number },
): Circuit => {
  const backOffMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 10)) * (0.5 + random / 2);
  return { failures: failures + 1, openUntilMs: nowMs + Math.max(backOffMs, retryAfterMs) };
};

export type DestinationGate = {
  /**
   * Runs `work` when it is its turn, and learns from its outcome; nothing from undefined. Rejects with the reason of
   * `signal` while it waits, and with an error of `work`.
   */
  pass(work: () => Promise<ExportOutcome | undefined>, signal: AbortSignal): Promise<ExportOutcome | undefined>;
};

/** `now`: ms since any moment; `random`: from 0 to 1. */
type GateDeps = { now: () => number; random: () => number };

/** Batches to one destination at the same time. */
const mostAtOnce = 4;

type Ticket = { grant: () => void; isGranted: boolean };

/** One gate for each destination in a process. It keeps a timer while somebody waits, and nothing else. */
export const createDestinationGate = ({ now, random }: GateDeps): DestinationGate => {
  let circuit: Circuit = closedCircuit;
  let running = 0;
  let waiting: Ticket[] = [];
  let timer: NodeJS.Timeout | undefined;

  const pump = (): void => {
    clearTimeout(timer);
    while (waiting.length > 0 && running < mostAtOnce && mayTry(circuit, running, now())) {
      const ticket = waiting.shift();
      if (!ticket) break;
      running += 1;
      ticket.isGranted = true;
      ticket.grant();
    }
    // A batch that runs pumps at its end.
    if (waiting.length > 0 && running === 0) timer = setTimeout(pump, Math.max(circuit.openUntilMs - now(), 1));
  };

  const leave = (): void => {
    running -= 1;
    pump();
  };

  const enter = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    const turn = Promise.withResolvers<void>();
    const ticket: Ticket = { grant: turn.resolve, isGranted: false };
    waiting.push(ticket);
    pump();
    try {
      await awaitWith(turn.promise, signal);
    } catch (error) {
      waiting = waiting.filter((other) => other !== ticket);
      if (ticket.isGranted) leave();
      else pump();
      throw error;
    }
  };

  /** `before`: the circuit when the batch began. Batches that failed side by side are one failure. */
  const learn = (outcome: ExportOutcome | undefined, before: Circuit): void => {
    if (outcome === undefined) return;
    const isFailure = outcome !== "sent" && "retryAfterMs" in outcome;
    if (!isFailure) circuit = closedCircuit;
    else if (circuit === before)
      circuit = afterFailure(circuit, { nowMs: now(), retryAfterMs: outcome.retryAfterMs, random: random() });
  };

  return {
    async pass(work, signal) {
      await enter(signal);
      const before = circuit;
      try {
        const outcome = await work();
        learn(outcome, before);
        return outcome;
      } finally {
        leave();
      }
    },
  };
};
