import type { SessionConfig } from "../../domain/browser-config.ts";
import { mergeTelemetry } from "../../domain/telemetry-merge.ts";
import { type AnyLease, requestOf, type SessionRequest } from "../../leases/records.ts";
import { Telemetry } from "../../resources/telemetry.ts";
import { fromWire, type Wire } from "../../resources/wire.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { configOf } from "./session-config.ts";

/** The telemetry settings that a lease was asked for with, if it was. */
const leaseTelemetry = ({ telemetry }: SessionRequest): Telemetry | undefined =>
  // The schema of the request has checked them, and every answer reads them: not again.
  telemetry ? fromWire(Telemetry, telemetry as Wire<Telemetry>) : undefined;

/**
 * The settings that count for a session: the lease's, which were checked at the acquire, on those that its browser was made with.
 * Undefined when nothing is captured.
 */
export const telemetryOf = (config: SessionConfig | undefined, request: SessionRequest): Telemetry | undefined => {
  const current = config?.telemetry && fromWire(Telemetry, config.telemetry);
  const merged = mergeTelemetry(current, leaseTelemetry(request));
  return merged.ok ? merged.telemetry : undefined;
};

/** The same for a lease. */
export const sessionTelemetry = async (
  lease: AnyLease,
  poolUid: string,
  deps: Pick<ServiceDeps, "store">,
): Promise<Telemetry | undefined> => telemetryOf(await configOf(lease, poolUid, deps), requestOf(lease));
