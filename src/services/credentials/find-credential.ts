import { type Credential, credentialKind } from "../../resources/credential.ts";
import { listObjects, readObject } from "../objects/find-object.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube">;

/** The credentials of a project as the API server has them now, oldest first. */
export const readCredentials = (project: Pick<Project, "namespace">, deps: Deps): Promise<Credential[]> =>
  listObjects<Credential>(credentialKind, project, deps);

/** By id, else by name. Throws `not_found`. */
export const readCredential = (idOrName: string, project: Project, deps: Deps): Promise<Credential> =>
  readObject<Credential>(credentialKind, { idOrName, project, what: "credential" }, deps);
