import { telemetryDestinationKind } from "../../resources/telemetry-destination.ts";
import { requireUnused } from "../objects/references.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchDestination } from "./fetch-destination.ts";

/**
 * Deletes a telemetry destination; the operator deletes its Secret and then removes its finalizer. Throws `not_found`, and `conflict`
 * while a pool, a browser or a session's holder refers to it.
 */
export const deleteDestination = async (
  idOrName: string,
  project: Project,
  deps: Pick<ServiceDeps, "kube" | "store">,
): Promise<void> => {
  const object = await fetchDestination(idOrName, project, deps);
  await requireUnused({ kind: "TelemetryDestination", object, what: "telemetry destination" }, project, deps);
  await deps.kube.delete(telemetryDestinationKind, object.metadata, { uid: object.metadata.uid });
};
