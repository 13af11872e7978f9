/**
 * Exports of the sessions that this replica collects. The kept events are the buffer of an export: what waits for a
 * receiver that is away is in Redis. Each destination has one exporter and one gate here, while a session exports to
 * it.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { type AnyLease, requestOf } from "../../core/leases/records.ts";
import type { Telemetry } from "../../core/model/settings/telemetry.ts";
import type { Projects } from "../../core/projects/projects.ts";
import { whileUnavailable } from "../../platform/redis/or-unavailable.ts";
import {
  createDestinationExporter,
  destinationDeleted,
  type ExporterDeps,
} from "./destinations/destination-exporter.ts";
import { fetchDestination } from "./destinations/destinations.ts";
import { createDestinationGate, type DestinationGate } from "./export/destination-gate.ts";
import { createSessionExport, type ReadRecords, type SessionExport } from "./export/export-queue.ts";
import type { OtlpExporter } from "./export/otlp-exporter.ts";
import type { ExportCursors } from "./export-state.ts";
import { recordOf } from "./record.ts";
import type { TelemetryStore } from "./telemetry-store.ts";

type ExportsDeps = ExporterDeps & { projects: Projects } & {
  events: Pick<TelemetryStore, "read">;
  cursors: ExportCursors;
  /** Counts events that no destination gets. */
  onDropped(count: number, reason: string): void;
};

/** The export of one session, to whatever destination its settings name. */
export type Exporting = {
  /** By these settings from now on; the ones of before may stay. A destination that is not there gets nothing. */
  follow(lease: AnyLease, settings: Telemetry | undefined): Promise<void>;
  /** There are new events. */
  wake(): void;
  /** No further events come. Resolves when all are sent, or after this time. */
  finish(limitMs: number): Promise<void>;
};

export type Exports = { of(session: string, signal: AbortSignal): Exporting };

type Shared = { exporter: Pick<OtlpExporter, "export" | "close">; gate: DestinationGate; users: number };

/**
 * `wanted`: the destination by its id or name, as the settings say it. `isOrphaned`: that destination was deleted
 * since.
 */
type Running = {
  wanted: string;
  isOrphaned: () => boolean;
  export: SessionExport;
  stop: AbortController;
  done: Promise<void>;
};

const wantedBy = (settings: Telemetry | undefined): string | undefined => {
  const { enabled = false, destination } = settings?.export?.otlp ?? {};
  return enabled ? (destination?.id ?? destination?.name) : undefined;
};

/** No session exports yet. */
export const createExports = (deps: ExportsDeps): Exports => {
  const shared = new Map<string, Shared>();

  /** The parts of a destination, until the returned function is called. */
  const share = (ref: { id: string; uid: string; namespace: string }): [Shared, () => void] => {
    const present = shared.get(ref.uid) ?? {
      exporter: createDestinationExporter(ref, deps),
      gate: createDestinationGate({ now: () => performance.now(), random: Math.random }),
      users: 0,
    };
    shared.set(ref.uid, present);
    present.users += 1;
    return [
      present,
      () => {
        present.users -= 1;
        if (present.users > 0) return;
        shared.delete(ref.uid);
        void present.exporter.close();
      },
    ];
  };

  const begin = async (
    { session, lease, wanted }: { session: string; lease: AnyLease; wanted: string },
    signal: AbortSignal,
  ): Promise<Running> => {
    const { project: projectId, pool, on_demand } = requestOf(lease);
    const project = deps.projects.list().find(({ id }) => id === projectId);
    if (!project) throw new Error("the project of the session is gone");
    const { name: id, uid = "", namespace = "" } = (await fetchDestination(wanted, project, deps)).metadata;
    const [{ exporter, gate }, leave] = share({ id, uid, namespace });
    const read: ReadRecords = async (after, count) =>
      (await deps.events.read(session, { order: "asc", after, count })).events.map(recordOf);
    const ofPool = on_demand ? {} : { poolId: pool.id, poolName: pool.name };
    let isOrphaned = false;
    const running = createSessionExport({
      session: { sessionId: session, projectId, ...ofPool },
      read,
      cursor: { get: () => deps.cursors.get(session, uid), set: (seq) => deps.cursors.set(session, uid, seq) },
      exporter,
      gate,
      onDropped: deps.onDropped,
      onOutcome: (outcome) => {
        if (outcome !== "sent" && outcome.reason === destinationDeleted) isOrphaned = true;
      },
      onError: (err) => deps.log.warn({ err, session_id: session }, "events of a session can't be exported now"),
    });
    const stop = new AbortController();
    const done = running
      .run(AbortSignal.any([signal, stop.signal]))
      .catch(() => undefined)
      .finally(leave);
    return { wanted, isOrphaned: () => isOrphaned, export: running, stop, done };
  };

  return {
    of(session, signal) {
      let present: Running | undefined;
      /** What could not begin, until a look at the session tries once more. */
      let missed: { lease: AnyLease; wanted: string } | undefined;
      const end = async (): Promise<void> => {
        present?.stop.abort();
        await present?.done;
        present = undefined;
      };
      return {
        async follow(lease, settings) {
          const wanted = wantedBy(settings);
          // Another one may have the name by now.
          if (wanted === present?.wanted && !present?.isOrphaned()) return;
          await end();
          missed = undefined;
          if (wanted === undefined) return;
          try {
            present = await begin({ session, lease, wanted }, signal);
          } catch (err) {
            // It may be made again, and Kubernetes may answer again.
            missed = { lease, wanted };
            deps.log.warn({ err, session_id: session }, "the telemetry of a session is not exported");
          }
        },
        wake: () => present?.export.wake(),
        async finish(limitMs) {
          const untilMs = performance.now() + limitMs;
          if (missed) {
            const last = { session, ...missed };
            present = await whileUnavailable(() => begin(last, signal), { withinMs: limitMs, signal }).catch(
              () => undefined,
            );
          }
          if (!present) return;
          present.export.end();
          const late = sleep(Math.max(0, untilMs - performance.now()), undefined, { signal }).catch(() => undefined);
          await Promise.race([present.done, late]);
          await end();
        },
      };
    },
  };
};
