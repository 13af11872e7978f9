import type { TelemetryCollector } from "./collector.ts";
import type { SessionWatches } from "./session-watch.ts";
import type { TelemetryStore } from "./telemetry-store.ts";

/** What use cases need for the telemetry of sessions. */
export type TelemetryParts = { events: TelemetryStore; watches: SessionWatches; collector: TelemetryCollector };
