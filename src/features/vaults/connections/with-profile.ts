import type { Project } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import { createProfile } from "../../profiles/create-profile.ts";
import type { AuthConnectionSpec } from "./auth-connection.ts";
import { fetchConnections } from "./fetch-connection.ts";

/** Creates the profile, without contents, unless the project has one of this name. */
const ensureProfile = async (name: string, project: Project, deps: { kube: Kube; locks: Locks }): Promise<void> => {
  try {
    await createProfile({ name }, project, deps);
  } catch (error) {
    if (!(error instanceof AppError && error.code === "name_taken")) throw error;
  }
};

/**
 * The one place where the profile of a new connection is looked at, before `work` creates the connection: a profile has one connection
 * for a domain (CONNECTION-9), also when several callers ask at once, and it is created if there is none (CONNECTION-24). Throws
 * `conflict`.
 */
export const withProfile = <T>(
  { spec: { profileName, domain }, project }: { spec: AuthConnectionSpec; project: Project },
  deps: { kube: Kube; locks: Locks },
  work: () => Promise<T>,
): Promise<T> =>
  deps.locks.hold(["connection", project.namespace, profileName, domain], async () => {
    const rival = (await fetchConnections(project, deps)).find(
      ({ spec }) => spec.profileName === profileName && spec.domain.toLowerCase() === domain,
    );
    if (rival)
      throw new AppError("conflict", `profile ${profileName} has the connection ${rival.metadata.name} for ${domain}`);
    await ensureProfile(profileName, project, deps);
    return work();
  });
