import {
  mergeTelemetry,
  resolveTelemetry,
  Telemetry,
  type TelemetryCategory,
  telemetryCategories,
} from "../../../core/model/settings/telemetry.ts";
import { fromWire, wireSchema } from "../../../platform/kinds/wire.ts";

/** What is captured of a lease. */
export type Capture = { categories: ReadonlySet<TelemetryCategory>; excludedMethods: ReadonlySet<string> };

const Settings = wireSchema(Telemetry);

const read = (settings: object | null | undefined): Telemetry | undefined => {
  // Nothing is the usual case, and a caller waits for it.
  if (!settings) return undefined;
  const { data } = Settings.safeParse(settings);
  return data && fromWire(Telemetry, data);
};

/**
 * What a lease's settings capture, merged onto those that its browser was made with (TELEMETRY-3, LEASE-9); undefined:
 * nothing. Both in their wire form, checked by the API. Settings that a newer API has sent and that are not understood
 * here capture nothing.
 */
export const captureOf = (base: object | undefined, ofLease: object | null | undefined): Capture | undefined => {
  const merged = mergeTelemetry(resolveTelemetry(read(base)), read(ofLease));
  const settings = merged.ok ? merged.telemetry : undefined;
  if (!settings?.enabled) return undefined;
  const on = telemetryCategories.filter((name) => settings.browser?.[name]?.enabled);
  return { categories: new Set(on), excludedMethods: new Set(settings.browser?.control?.cdp?.excludedMethods ?? []) };
};
