import { AppError } from "../../errors.ts";
import { wireName } from "../../resources/identity.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchProfiles } from "./fetch-profile.ts";

/**
 * Runs `work`, which gives a profile this name, under a lock, so that no other request gives the same name. `ownId`: the id of a
 * profile that may already have the name. Throws `name_taken`.
 */
export const withProfileName = <T>(
  { name, project, ownId }: { name: string; project: Project; ownId?: string },
  deps: Pick<ServiceDeps, "kube" | "locks">,
  work: () => Promise<T>,
): Promise<T> =>
  deps.locks.hold(["profile", project.namespace, name], async () => {
    const holder = (await fetchProfiles(project, deps)).find((profile) => wireName(profile) === name);
    if (holder && holder.metadata.name !== ownId)
      throw new AppError("name_taken", `name: ${name} is the name of another profile of this project`);
    return work();
  });
