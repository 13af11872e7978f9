import type { LeaseStore } from "../../core/leases/lease-store.ts";
import { requireUnused } from "../../core/objects/references.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { extensionKind } from "./extension.ts";
import { fetchExtension } from "./fetch-extension.ts";

/** Deletes an extension; the operator deletes its archive. Throws `not_found`, and `conflict` when something uses it. */
export const deleteExtension = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const extension = await fetchExtension(idOrName, project, deps);
  await requireUnused({ kind: "Extension", object: extension, what: "extension" }, project, deps);
  await deps.kube.delete(extensionKind, extension.metadata, { uid: extension.metadata.uid });
};
