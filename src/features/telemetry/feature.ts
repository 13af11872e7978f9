import type { Feature } from "../../core/api/feature.ts";
import { destinationController } from "./destinations/controller.ts";
import {
  createTelemetryDestinationRoute,
  deleteTelemetryDestinationRoute,
  getTelemetryDestinationRoute,
  listTelemetryDestinationsRoute,
  updateTelemetryDestinationRoute,
} from "./destinations/routes.ts";
import { telemetryDestinationKind } from "./destinations/telemetry-destination.ts";
import { listTelemetryRoute, streamTelemetryRoute } from "./routes.ts";

/** The events of sessions, and the receivers that they are exported to. */
export const telemetry = {
  kinds: [telemetryDestinationKind],
  contents: [{ kind: telemetryDestinationKind, what: "telemetry destinations" }],
  announced: [{ name: "telemetry_destination", kind: telemetryDestinationKind, permission: "pools:read" }],
  controllers: [destinationController],
  routes: [
    listTelemetryRoute,
    streamTelemetryRoute,
    createTelemetryDestinationRoute,
    listTelemetryDestinationsRoute,
    getTelemetryDestinationRoute,
    updateTelemetryDestinationRoute,
    deleteTelemetryDestinationRoute,
  ],
} satisfies Feature;
