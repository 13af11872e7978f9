import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import { clusterRoles } from "../../platform/kube/resource-type.ts";

/** The ClusterRole, without rules, by which the chart marks the one installation of a cluster. */
const markName = "browserpool-installation";
const markedNamespace = "browserpool.dev/system-namespace";

/**
 * Throws an `Error` that names the other namespace when this cluster is marked for an installation elsewhere: two
 * operators would work on the same pools. A cluster without the mark, or one that this account may not read, passes:
 * local mode, and roles that the administrator makes.
 */
export const requireOnlyInstallation = async (
  { kube, namespace }: { kube: Kube; namespace: string },
  name = markName,
): Promise<void> => {
  const mark = await kube.get(clusterRoles, { name }).catch((error: unknown) => {
    if (hasReason(error, "Forbidden")) return undefined;
    throw error;
  });
  const other = mark?.metadata.annotations?.[markedNamespace];
  if (other !== undefined && other !== namespace)
    throw new Error(
      `Browserpool is in this cluster already, in namespace ${other} (ClusterRole ${name}), and a cluster has one installation`,
    );
};
