import { acceptedDraft, conditionsOf, specProblemsText } from "../../../core/reconcile/conditions.ts";
import type { NetworkFilter } from "../../../platform/addresses/network-filter.ts";
import { destinationProblems } from "./rules/destination-problems.ts";
import type { TelemetryDestination } from "./telemetry-destination.ts";

type Facts = { holder: TelemetryDestination; filter: NetworkFilter; nowMs: number };

const refusalOf = (destination: TelemetryDestination, { holder, filter }: Facts) => {
  const message = specProblemsText(destinationProblems(destination.spec, filter));
  if (message !== "") return { reason: "InvalidSpec", message };
  if (holder.metadata.uid === destination.metadata.uid) return undefined;
  return {
    reason: "NameTaken",
    message: `spec.name: the telemetry destination ${holder.metadata.name} has this name`,
  };
};

/**
 * The status of a telemetry destination, pure; from its spec, since the operator reads no Secrets. `holder`: the oldest
 * destination with this name; `filter`: of endpoints.
 */
export const destinationStatus = (
  destination: TelemetryDestination,
  facts: Facts,
): NonNullable<TelemetryDestination["status"]> => {
  const refusal = refusalOf(destination, facts);
  const usable = { status: true, reason: "Accepted", message: "telemetry can be exported to it" };
  return {
    observedGeneration: destination.metadata.generation ?? 0,
    conditions: conditionsOf(destination, [acceptedDraft(refusal), { type: "Ready", ...usable }], facts.nowMs),
  };
};
