import { fetchNamedObject, fetchObjects } from "../../../core/objects/fetch-object.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { type Credential, credentialKind } from "./credential.ts";

type Deps = { kube: Kube };

/** Fetches the credentials of a project, oldest first. */
export const fetchCredentials = (project: Pick<Project, "namespace">, deps: Deps): Promise<Credential[]> =>
  fetchObjects(credentialKind, project, deps);

/** Fetches a credential by id, else by name. Throws `not_found`. */
export const fetchCredential = (idOrName: string, project: Project, deps: Deps): Promise<Credential> =>
  fetchNamedObject(credentialKind, { idOrName, project, what: "credential" }, deps);
