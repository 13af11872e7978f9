import { refOf } from "../../kube/objects.ts";
import { secretFinalizer } from "../../resources/finalizers.ts";
import { claimedName } from "../../resources/identity.ts";
import { ownDestinationSecretName, telemetryDestinationKind } from "../../resources/telemetry-destination.ts";
import { deleteOwnSecret } from "../delete-own-secret.ts";
import { withFinalizer } from "../finalizers.ts";
import { holderOf, liveIn, type ObjectDeps, writeStatus } from "../object-deps.ts";
import { destinationStatus } from "./status.ts";

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
