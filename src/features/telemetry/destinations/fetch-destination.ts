import { fetchNamedObject, fetchObjects } from "../../../core/objects/fetch-object.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { ExportResults } from "../export-results.ts";
import { destinationRecord } from "./rules/destination-record.ts";
import { type TelemetryDestination, telemetryDestinationKind } from "./telemetry-destination.ts";
import type { TelemetryDestinationRecord } from "./telemetry-destination-wire.ts";

type Deps = { kube: Kube };

/** A telemetry destination as HTTP answers show it. */
export const destinationAnswer = async (
  destination: TelemetryDestination,
  { exportResults }: { exportResults: ExportResults },
): Promise<TelemetryDestinationRecord> =>
  destinationRecord(destination, await exportResults.read(destination.metadata.uid));

/** Fetches the telemetry destinations of a project, oldest first. */
export const fetchDestinations = (project: Project, deps: Deps): Promise<TelemetryDestination[]> =>
  fetchObjects(telemetryDestinationKind, project, deps);

/** Fetches a telemetry destination by its id, else by its name. Throws `not_found`. */
export const fetchDestination = (idOrName: string, project: Project, deps: Deps): Promise<TelemetryDestination> =>
  fetchNamedObject(telemetryDestinationKind, { idOrName, project, what: "telemetry destination" }, deps);
