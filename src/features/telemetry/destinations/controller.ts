import { deleteSecret, holderOf, type ObjectController } from "../../../core/reconcile/object-controller.ts";
import type { NetworkFilter } from "../../../platform/addresses/network-filter.ts";
import { claimedName } from "../../../platform/kinds/identity.ts";
import { secretFinalizer } from "../../../platform/kinds/kind.ts";
import { destinationStatus } from "./status.ts";
import {
  ownDestinationSecretName,
  type TelemetryDestination,
  telemetryDestinationKind,
} from "./telemetry-destination.ts";

/** Keeps the status of telemetry destinations. `destinationFilter`: of their endpoints. */
export const destinationController: ObjectController<TelemetryDestination, { destinationFilter: NetworkFilter }> = {
  name: "destinations",
  kind: telemetryDestinationKind,
  reads: [telemetryDestinationKind],
  finalizer: secretFinalizer,
  release: deleteSecret(ownDestinationSecretName),
  statusOf(destination, deps) {
    const holder = holderOf(destination, { kind: telemetryDestinationKind, claimOf: claimedName }, deps);
    return destinationStatus(destination, { holder, filter: deps.destinationFilter, nowMs: deps.now() });
  },
};
