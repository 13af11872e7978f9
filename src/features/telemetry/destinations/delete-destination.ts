import type { LeaseStore } from "../../../core/leases/lease-store.ts";
import { requireUnused } from "../../../core/objects/references.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { fetchDestination } from "./fetch-destination.ts";
import { telemetryDestinationKind } from "./telemetry-destination.ts";

/**
 * Deletes a telemetry destination; the operator deletes its Secret and then removes its finalizer. Throws `not_found`, and `conflict`
 * while a pool, a browser or a session's holder refers to it.
 */
export const deleteDestination = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const object = await fetchDestination(idOrName, project, deps);
  await requireUnused({ kind: "TelemetryDestination", object, what: "telemetry destination" }, project, deps);
  await deps.kube.delete(telemetryDestinationKind, object.metadata, { uid: object.metadata.uid });
};
