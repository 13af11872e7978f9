/**
 * Sends the events of one session to a destination, in order, as long as the session's buffer has them.
 *
 *   wait for an event ──► wait for the destination ──► read a batch after the cursor ──► send it
 *          ▲                         ▲                                                    │ │
 *          │                         └──────────── nothing changes: to be repeated ───────┘ │
 *          └── the cursor moves, what was lost is counted ◄────────── sent, or rejected ────┘
 *
 * While it waits it holds no event: the buffer does, and bounds them. So a receiver that is away costs no memory here.
 * Events are sent at least once: a batch whose answer was lost, or whose cursor could not be stored, is sent again.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { TelemetryRecord } from "../telemetry-event.ts";
import type { DestinationGate } from "./destination-gate.ts";
import type { ExportedSession } from "./log-records.ts";
import type { ExportOutcome, OtlpExporter } from "./otlp-exporter.ts";

// What goes into one request, and what is missing before it; pure.

/** Most events of a request, and about most bytes of it before compression: receivers bound both. */
const maxBatchRecords = 64;
const maxBatchBytes = 1024 * 1024;

/** The first of these records that fit into one request; at least one. */
const batchOf = (records: readonly TelemetryRecord[]): TelemetryRecord[] => {
  let bytes = 0;
  const end = records.findIndex((record, index) => {
    bytes += Buffer.byteLength(JSON.stringify(record));
    return index === maxBatchRecords || (index > 0 && bytes > maxBatchBytes);
  });
  return records.slice(0, end < 0 ? records.length : end);
};

/** How many numbers between `afterSeq` and the end of the batch it does not have: their events are lost. */
const lostBefore = (afterSeq: number, batch: readonly TelemetryRecord[]): number =>
  (batch.at(-1)?.seq ?? afterSeq) - afterSeq - batch.length;

/** The buffer: events after this number, oldest first, `limit` at most. It may give fewer at a time. */
export type ReadRecords = (afterSeq: number, limit: number) => Promise<readonly TelemetryRecord[]>;

/** Where it stands: the number of the last event that is done with, 0 before the first. */
type CursorStore = { get(): Promise<number>; set(seq: number): Promise<void> };

type SessionExportDeps = {
  session: ExportedSession;
  read: ReadRecords;
  cursor: CursorStore;
  exporter: Pick<OtlpExporter, "export">;
  /** Shared by all sessions that export to the destination. */
  gate: DestinationGate;
  /**
   * Events that never reach the destination. `reason`: one word, such as `buffer` for those that the buffer had lost.
   */
  onDropped(count: number, reason: string): void;
  /** Of each request, for what users see of their destination. */
  onOutcome(outcome: ExportOutcome): void;
  /** An error of the buffer or the cursor; the loop goes on. */
  onError(error: unknown): void;
};

export type SessionExport = {
  /** Tells that there are new events. A lost call costs `pollMs`. */
  wake(): void;
  /** Tells that no further events come: `run` resolves when all are done with. */
  end(): void;
  /** Sends until the end, or rejects with the reason of `signal`. */
  run(signal: AbortSignal): Promise<void>;
};

/** How long it waits for `wake` before it looks itself, and after an error, ms. */
const pollMs = 5000;
const errorPauseMs = 1000;

/** The export of one session. It begins with `run`. */
export const createSessionExport = (deps: SessionExportDeps): SessionExport => {
  const { session, read, cursor, exporter, gate } = deps;
  let isEnding = false;
  let woken = Promise.withResolvers<void>();
  let doneSeq: number | undefined;

  const waitForWake = async (signal: AbortSignal): Promise<void> => {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const pause = sleep(pollMs, undefined, { signal: either });
    try {
      await Promise.race([woken.promise, pause]);
    } finally {
      over.abort();
      pause.catch(() => undefined);
    }
  };

  /** Reads and sends one batch. Undefined when there was none. */
  const sendBatch = async (afterSeq: number, signal: AbortSignal): Promise<ExportOutcome | undefined> => {
    const batch = batchOf(await read(afterSeq, maxBatchRecords));
    const last = batch.at(-1);
    if (!last) return undefined;
    const outcome = await exporter.export(session, batch, signal);
    deps.onOutcome(outcome);
    if (outcome !== "sent" && "retryAfterMs" in outcome) return outcome;
    const lost = lostBefore(afterSeq, batch);
    if (lost > 0) deps.onDropped(lost, "buffer");
    if (outcome !== "sent") deps.onDropped(outcome.rejected, outcome.reason);
    // First here: a cursor that can't be stored repeats nothing in this process.
    doneSeq = last.seq;
    await cursor.set(last.seq);
    return outcome;
  };

  /** One turn. Returns whether all is sent. */
  const step = async (signal: AbortSignal): Promise<boolean> => {
    // Asked for before the look, so that a wake between the two is not lost.
    woken = Promise.withResolvers();
    const wasEnding = isEnding;
    doneSeq ??= await cursor.get();
    const afterSeq = doneSeq;
    if ((await read(afterSeq, 1)).length > 0) {
      await gate.pass(() => sendBatch(afterSeq, signal), signal);
      return false;
    }
    if (!wasEnding) await waitForWake(signal);
    return wasEnding;
  };

  return {
    wake: () => woken.resolve(),
    end() {
      isEnding = true;
      woken.resolve();
    },
    async run(signal) {
      for (;;) {
        signal.throwIfAborted();
        try {
          if (await step(signal)) return;
        } catch (error) {
          signal.throwIfAborted();
          deps.onError(error);
          await sleep(errorPauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
        }
      }
    },
  };
};
