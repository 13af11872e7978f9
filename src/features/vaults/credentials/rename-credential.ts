import { fetchObjects } from "../../../core/objects/fetch-object.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { authConnectionKind } from "../connections/auth-connection.ts";

/** Updates the connections that refer to a credential by its old name. */
export const renameCredentialOfConnections = async (
  { from, to, project }: { from: string; to: string; project: Project },
  deps: { kube: Kube },
): Promise<void> => {
  const connections = (await fetchObjects(authConnectionKind, project, deps)).filter(
    ({ spec }) => spec.credential?.name === from,
  );
  await Promise.all(
    connections.map(({ metadata }) =>
      deps.kube.patch(authConnectionKind, metadata, { spec: { credential: { name: to } } }),
    ),
  );
};
