/** A telemetry destination as the HTTP API shows it: without the values of its headers. */
import { createdAt, updatedAt, wireId, wireName } from "../../../../platform/kinds/identity.ts";
import type { TelemetryDestination, TelemetryDestinationAnswer } from "../telemetry-destination.ts";
import { canonicalHeader } from "./destination-problems.ts";

/** What came of the requests to a destination. Times are RFC 3339. */
type ExportedSoFar = {
  consecutiveFailures: number;
  lastError?: string | undefined;
  lastErrorAt?: string | undefined;
  lastExportAt?: string | undefined;
};

/** A destination, and what is known of the requests to it. */
export const destinationAnswer = (
  destination: TelemetryDestination,
  { consecutiveFailures, lastError, lastErrorAt, lastExportAt }: ExportedSoFar,
): TelemetryDestinationAnswer => {
  const { description, endpoint, compression, timeoutSeconds, headerNames } = destination.spec;
  return {
    id: wireId(destination),
    name: wireName(destination) ?? wireId(destination),
    ...(description && { description }),
    endpoint,
    headers: Object.fromEntries(headerNames.map((name) => [canonicalHeader(name), "" as const])),
    compression,
    timeout_seconds: timeoutSeconds,
    consecutive_failures: consecutiveFailures,
    ...(lastError !== undefined && { last_error: lastError }),
    ...(lastErrorAt !== undefined && { last_error_at: lastErrorAt }),
    ...(lastExportAt !== undefined && { last_export_at: lastExportAt }),
    created_at: createdAt(destination),
    updated_at: updatedAt(destination),
  };
};
