import type { Project } from "../../../core/projects/projects.ts";
import type { ServiceDeps } from "../../../core/service-deps.ts";
import { credentialKind } from "./credential.ts";
import { fetchCredential } from "./fetch-credential.ts";

/** Deletes a credential; the operator deletes its Secret and then removes its finalizer. Throws `not_found`. */
export const deleteCredential = async (
  idOrName: string,
  project: Project,
  deps: Pick<ServiceDeps, "kube">,
): Promise<void> => {
  const { metadata } = await fetchCredential(idOrName, project, deps);
  await deps.kube.delete(credentialKind, metadata, { uid: metadata.uid });
};
