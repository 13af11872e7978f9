import { credentialKind } from "../../resources/credential.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
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
