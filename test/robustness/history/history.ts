/**
 * A history: everything that is known of one run, as JSON lines in one file. Written while the run goes on, in the
 * order in which the recorders hear of it; read in the order of time.
 */
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { z } from "zod";
import { ClientCall, ClientReturn } from "./client-event.ts";
import { LeaseEvent } from "./lease-event.ts";
import { AgentEvent, PodEvent } from "./node-event.ts";
import { EndEvent, FaultEvent, HeadEvent, MarkEvent, PoolEvent, ProcessEvent } from "./run-event.ts";

export const HistoryEvent = z.discriminatedUnion("kind", [
  HeadEvent,
  ClientCall,
  ClientReturn,
  LeaseEvent,
  AgentEvent,
  PodEvent,
  PoolEvent,
  FaultEvent,
  ProcessEvent,
  MarkEvent,
  EndEvent,
]);
export type HistoryEvent = z.infer<typeof HistoryEvent>;

/** The events of one kind. */
export type EventOf<Kind extends HistoryEvent["kind"]> = Extract<HistoryEvent, { kind: Kind }>;

export const ofKind = <Kind extends HistoryEvent["kind"]>(events: HistoryEvent[], kind: Kind): EventOf<Kind>[] =>
  events.filter((event): event is EventOf<Kind> => event.kind === kind);

export type HistoryWriter = {
  /** Adds a line; never waits. After `close` it does nothing, so that a late recorder does no harm. */
  write(event: HistoryEvent): void;
  /** Resolves when all is in the file; rejects when writing failed. */
  close(): Promise<void>;
};

export const createHistory = (file: string): HistoryWriter => {
  const stream = createWriteStream(file);
  const done = finished(stream);
  done.catch(() => undefined);
  let isOpen = true;
  return {
    write: (event) => void (isOpen && stream.write(`${JSON.stringify(event)}\n`)),
    async close() {
      isOpen = false;
      stream.end();
      await done;
    },
  };
};

/**
 * All events in the order of time; those of the same time in the order in which they were written. Throws for a line
 * that is none.
 */
export const readHistory = async (file: string): Promise<HistoryEvent[]> => {
  const events: HistoryEvent[] = [];
  await using handle = await open(file);
  for await (const line of handle.readLines()) {
    const parsed = HistoryEvent.safeParse(JSON.parse(line));
    if (!parsed.success) throw new Error(`${file}, line ${events.length + 1}: ${z.prettifyError(parsed.error)}`);
    events.push(parsed.data);
  }
  return events.sort((a, b) => a.at - b.at);
};
