import { fetchNamedObject, fetchObjects } from "../../core/objects/fetch-object.ts";
import type { Project } from "../../core/projects/projects.ts";
import { AppError } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { type Extension, type ExtensionSpec, extensionKind } from "./extension.ts";

type Deps = { kube: Kube };

/** An extension whose archive is stored. */
export type StoredExtension = Extension & { spec: { archive: NonNullable<ExtensionSpec["archive"]> } };

const isStored = (extension: Extension): extension is StoredExtension => extension.spec.archive !== undefined;

/** Fetches the extensions of a project whose archives are stored, oldest first. */
export const fetchExtensions = async (project: Pick<Project, "namespace">, deps: Deps): Promise<StoredExtension[]> =>
  (await fetchObjects(extensionKind, project, deps)).filter(isStored);

/** Fetches an extension by id, else by name. Throws `not_found`, also while its archive is being uploaded. */
export const fetchExtension = async (idOrName: string, project: Project, deps: Deps): Promise<StoredExtension> => {
  const extension = await fetchNamedObject(extensionKind, { idOrName, project, what: "extension" }, deps);
  if (!isStored(extension)) throw new AppError("not_found", `the extension ${idOrName} has no archive`);
  return extension;
};
