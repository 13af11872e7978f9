import type { ClientReturn } from "../history/client-event.ts";
import { monotonicMs } from "../history/event-base.ts";
import type { EventOf } from "../history/history.ts";
import type { Recorder } from "../recorder/recorder.ts";

export type Call = Omit<EventOf<"call">, "kind" | "at" | "id" | "client">;
export type Outcome = Pick<ClientReturn, "outcome"> & Partial<ClientReturn>;

/** Writes a call down and gives the function that writes down its return. */
export type CallLog = (call: Call) => (outcome: Outcome) => void;

export const createCallLog = (client: string, recorder: Recorder): CallLog => {
  let lastId = 0;
  return (call) => {
    lastId += 1;
    const identity = { id: `${client}/${lastId}`, client, pool: call.pool, op: call.op };
    const session = call.session === undefined ? {} : { session: call.session };
    recorder.write({ kind: "call", at: monotonicMs(), ...call, ...identity });
    return (outcome) => recorder.write({ kind: "return", at: monotonicMs(), ...identity, ...session, ...outcome });
  };
};

/** For people. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
