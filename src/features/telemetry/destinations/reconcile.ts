import { deleteOwnSecret } from "../../../core/reconcile/delete-own-secret.ts";
import { withFinalizer } from "../../../core/reconcile/finalizers.ts";
import { holderOf, liveIn, type ObjectDeps, writeStatus } from "../../../core/reconcile/object-deps.ts";
import { secretFinalizer } from "../../../platform/kinds/finalizers.ts";
import { claimedName } from "../../../platform/kinds/identity.ts";
import { refOf } from "../../../platform/kube/objects.ts";
import { destinationStatus } from "./status.ts";
import { ownDestinationSecretName, telemetryDestinationKind } from "./telemetry-destination.ts";

/** One round for one telemetry destination; `key` is `namespace/name`. Safe to repeat at any point. */
export const reconcileDestination = async (key: string, deps: ObjectDeps): Promise<undefined> => {
  const { destinations } = deps.caches;
  const known = destinations.get(refOf(key));
  if (!known) return;
  if (known.metadata.deletionTimestamp) {
    const secret = ownDestinationSecretName(known.metadata.name);
    await deleteOwnSecret(telemetryDestinationKind, { object: known, secret }, deps);
    return;
  }
  deps.lead.check();
  const finalizer = { object: known, finalizer: secretFinalizer };
  const destination = await withFinalizer(telemetryDestinationKind, finalizer, deps.kube);
  destinations.put(destination);
  const rivals = liveIn(destination.metadata.namespace, destinations);
  const holder = holderOf(destination, rivals, claimedName) ?? destination;
  const status = destinationStatus(destination, { holder, judge: deps.destinationJudge, nowMs: deps.now() });
  await writeStatus(telemetryDestinationKind, { object: destination, status, cache: destinations }, deps);
};
