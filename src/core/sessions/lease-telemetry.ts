import { fromWire, type Wire } from "../../platform/kinds/wire.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import { type AnyLease, requestOf, type SessionRequest } from "../leases/records.ts";
import type { SessionConfig } from "../model/settings/browser-config.ts";
import { Telemetry } from "../model/settings/telemetry.ts";
import { mergeTelemetry } from "../model/settings/telemetry-merge.ts";
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
  deps: { store: LeaseStore },
): Promise<Telemetry | undefined> => telemetryOf(await configOf(lease, poolUid, deps), requestOf(lease));
