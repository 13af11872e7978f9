import type { Project } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { authConnectionKind } from "./auth-connection.ts";
import { fetchConnection } from "./fetch-connection.ts";

/** Deletes a connection; its credential stays, and the operator deletes its login code. Throws `not_found`. */
export const deleteConnection = async (id: string, project: Project, deps: { kube: Kube }): Promise<void> => {
  const { metadata } = await fetchConnection(id, project, deps);
  await deps.kube.delete(authConnectionKind, metadata, { uid: metadata.uid });
};
