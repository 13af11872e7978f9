import { type Profile, profileKind } from "../../resources/profile.ts";
import { fetchNamedObject, fetchObjects } from "../objects/fetch-object.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube">;

/** Fetches the profiles of a project, oldest first. */
export const fetchProfiles = (project: Pick<Project, "namespace">, deps: Deps): Promise<Profile[]> =>
  fetchObjects(profileKind, project, deps);

/** Fetches a profile by id, else by name. Throws `not_found`. */
export const fetchProfile = (idOrName: string, project: Project, deps: Deps): Promise<Profile> =>
  fetchNamedObject(profileKind, { idOrName, project, what: "profile" }, deps);
