import { deleteSecret, holderOf, type ObjectController } from "../../../core/reconcile/object-controller.ts";
import type { NetworkJudge } from "../../../platform/addresses/network-judge.ts";
import { claimedName } from "../../../platform/kinds/identity.ts";
import { secretFinalizer } from "../../../platform/kinds/kind.ts";
import { destinationStatus } from "./status.ts";
import {
  ownDestinationSecretName,
  type TelemetryDestination,
  telemetryDestinationKind,
} from "./telemetry-destination.ts";

/** Keeps the status of telemetry destinations. `destinationJudge`: of their endpoints. */
export const destinationController: ObjectController<TelemetryDestination, { destinationJudge: NetworkJudge }> = {
  name: "destinations",
  kind: telemetryDestinationKind,
  reads: [telemetryDestinationKind],
  finalizer: secretFinalizer,
  release: deleteSecret(ownDestinationSecretName),
  statusOf(destination, deps) {
    const holder = holderOf(destination, { kind: telemetryDestinationKind, claimOf: claimedName }, deps);
    return destinationStatus(destination, { holder, judge: deps.destinationJudge, nowMs: deps.now() });
  },
};
