import { fetchNamedObject, fetchObjects } from "../../core/objects/fetch-object.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { type Profile, profileKind } from "./profile.ts";

type Deps = { kube: Kube };

/** Fetches the profiles of a project, oldest first. */
export const fetchProfiles = (project: Pick<Project, "namespace">, deps: Deps): Promise<Profile[]> =>
  fetchObjects(profileKind, project, deps);

/** Fetches a profile by id, else by name. Throws `not_found`. */
export const fetchProfile = (idOrName: string, project: Project, deps: Deps): Promise<Profile> =>
  fetchNamedObject(profileKind, { idOrName, project, what: "profile" }, deps);
