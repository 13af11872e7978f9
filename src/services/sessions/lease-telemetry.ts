import type { SessionRequest } from "../../leases/records.ts";
import { Telemetry } from "../../resources/telemetry.ts";
import { fromWire, type Wire } from "../../resources/wire.ts";

/** The telemetry settings that a lease was asked for with, if it was. */
export const leaseTelemetry = ({ telemetry }: SessionRequest): Telemetry | undefined =>
  // The schema of the request has checked them, and every answer reads them: not again.
  telemetry ? fromWire(Telemetry, telemetry as Wire<Telemetry>) : undefined;
