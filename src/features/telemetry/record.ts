import type { TelemetryEvent, TelemetryRecord } from "./telemetry-event.ts";
import type { KeptEvent } from "./telemetry-store.ts";

/** An event that is kept, as callers get it. It was checked before it was kept. */
export const recordOf = ({ seq, event }: Pick<KeptEvent, "seq" | "event">): TelemetryRecord => ({
  seq,
  event: JSON.parse(event) as TelemetryEvent,
});

/** What stands for events that are gone: those between the two numbers. It has the number of the last of them. */
export const droppedBetween = (after: number, before: number): TelemetryRecord => ({
  seq: before - 1,
  event: {
    type: "monitor_events_dropped",
    category: "monitor",
    source: { kind: "kernel_api" },
    ts: Date.now() * 1000,
    data: { count: before - after - 1, reason: "storage_full" },
  } as TelemetryEvent,
});
