/**
 * Names of projects are unique, but Kubernetes can't enforce that for an annotation. So each writer checks a name before and after
 * it writes: of two writers at least the later one sees the other's name and gives its own up. Two writers at exactly the same time
 * may both be refused, but never both keep the name.
 */

import { AppError } from "../../platform/base/errors.ts";
import { projectLabel } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { namespaces } from "../../platform/kube/resource-type.ts";
import { readProject } from "./project-namespace.ts";

/** Throws `name_taken` when a project in another namespace than `ownNamespace` has this name. Asks the API server. */
export const requireFreeProjectName = async (kube: Kube, name: string, ownNamespace?: string): Promise<void> => {
  const { items } = await kube.list(namespaces, { labelSelector: projectLabel });
  const others = items.flatMap((item) => readProject(item) ?? []).filter(({ namespace }) => namespace !== ownNamespace);
  if (others.some((other) => other.name === name))
    throw new AppError("name_taken", `another project is named ${JSON.stringify(name)}`);
};
