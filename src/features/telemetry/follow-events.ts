import type { LeaseStore } from "../../core/leases/lease-store.ts";
import type { FoundSession } from "../../core/sessions/find-session.ts";
import { sessionTelemetry } from "../../core/sessions/lease-telemetry.ts";
import { whileUnavailable } from "../../platform/redis/while-unavailable.ts";
import { droppedBetween, recordOf } from "./record.ts";
import type { TelemetryRecord } from "./telemetry-event.ts";
import type { TelemetryParts } from "./telemetry-parts.ts";

/** Events of one read. */
const pageSize = 100;

/**
 * The events of a session after this number, as they come; ends with the session. What is gone already is told by an event in its place.
 * It reads a page when its reader has taken the last one. Throws the reason of `signal`.
 */
const follow = async function* (
  { session, poolUid, after }: { session: string; poolUid: string; after: number },
  { telemetry: { events, watches } }: { telemetry: TelemetryParts },
  signal: AbortSignal,
): AsyncGenerator<TelemetryRecord> {
  const watch = watches.join({ session, poolUid });
  try {
    for (let last = after; ; ) {
      const { isOver } = await watch.next(last, signal);
      const page = await whileUnavailable(() => events.read(session, { order: "asc", after: last, count: pageSize }), {
        maxPauseMs: 1000,
        signal,
      });
      for (const kept of page.events) {
        const record = recordOf(kept);
        // The agent tells itself what it has dropped, by an event with the number of the last one.
        if (kept.seq > last + 1 && record.event.type !== "monitor_events_dropped") yield droppedBetween(last, kept.seq);
        yield record;
        last = kept.seq;
      }
      if (page.events.length > 0) continue;
      if (isOver) return;
      // All that came was dropped before it could be read.
      if (page.last > last) {
        yield droppedBetween(last, page.last + 1);
        last = page.last;
      }
    }
  } finally {
    watch.leave();
  }
};

/** Where a reader begins: after the event with this number, with the oldest event that is kept, or with the next that comes. */
export type BeginAt = { after: number } | "oldest" | "now";

/**
 * Follows the events of an active session. Where it begins is settled when this resolves. A session that nobody collects, such as after
 * a loss of Redis, is collected from now on.
 */
export const followEvents = async (
  { lease, poolUid }: FoundSession,
  begin: BeginAt,
  deps: { store: LeaseStore; telemetry: TelemetryParts },
  signal: AbortSignal,
): Promise<AsyncGenerator<TelemetryRecord>> => {
  const { session } = lease;
  if (await sessionTelemetry(lease, poolUid, deps)) await deps.telemetry.collector.ensure({ session, poolUid });
  if (typeof begin === "object") return follow({ session, poolUid, after: begin.after }, deps, signal);
  if (begin === "oldest") return follow({ session, poolUid, after: 0 }, deps, signal);
  const { last } = await deps.telemetry.events.read(session, { order: "desc", count: 0 });
  return follow({ session, poolUid, after: last }, deps, signal);
};
