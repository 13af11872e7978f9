import { extensionKind } from "../../resources/extension.ts";
import { requireUnused } from "../objects/references.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchExtension } from "./fetch-extension.ts";

/** Deletes an extension; the operator deletes its archive. Throws `not_found`, and `conflict` when something uses it. */
export const deleteExtension = async (
  idOrName: string,
  project: Project,
  deps: Pick<ServiceDeps, "kube" | "store">,
): Promise<void> => {
  const extension = await fetchExtension(idOrName, project, deps);
  await requireUnused({ kind: "Extension", object: extension, what: "extension" }, project, deps);
  await deps.kube.delete(extensionKind, extension.metadata, { uid: extension.metadata.uid });
};
