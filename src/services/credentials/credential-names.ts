import { credentialOfName } from "../../domain/item-source.ts";
import { AppError } from "../../errors.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchCredentials } from "./fetch-credential.ts";

type Deps = Pick<ServiceDeps, "kube" | "locks">;

/**
 * Runs `work`, which gives a credential this name, under a lock, so that no other request gives the same name. `ownId`: the id of a
 * credential that may already have the name. Throws `name_taken`.
 */
export const withCredentialName = <T>(
  { name, project, ownId }: { name: string; project: Project; ownId?: string },
  deps: Deps,
  work: () => Promise<T>,
): Promise<T> =>
  deps.locks.hold(["credential", project.namespace, name], async () => {
    const holder = credentialOfName(await fetchCredentials(project, deps), name);
    if (holder && holder.metadata.name !== ownId)
      throw new AppError("name_taken", `name: ${name} is the name of another credential of this project`);
    return work();
  });
