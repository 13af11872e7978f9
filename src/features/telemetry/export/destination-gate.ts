/** The gate before one destination: a few batches at once, in the order of asking, and the circuit (circuit.ts). */
import { awaitWith } from "../../../platform/base/await-with.ts";
import { afterFailure, type Circuit, closedCircuit, mayTry } from "./circuit.ts";
import type { ExportOutcome } from "./otlp-exporter.ts";

export type DestinationGate = {
  /**
   * Runs `work` when it is its turn, and learns from its outcome; nothing from undefined. Rejects with the reason of `signal` while it
   * waits, and with an error of `work`.
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
