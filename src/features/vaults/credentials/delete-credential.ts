import type { Project } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { credentialKind } from "./credential.ts";
import { fetchCredential } from "./fetch-credential.ts";

/** Deletes a credential; the operator deletes its Secret and then removes its finalizer. Throws `not_found`. */
export const deleteCredential = async (idOrName: string, project: Project, deps: { kube: Kube }): Promise<void> => {
  const { metadata } = await fetchCredential(idOrName, project, deps);
  await deps.kube.delete(credentialKind, metadata, { uid: metadata.uid });
};
