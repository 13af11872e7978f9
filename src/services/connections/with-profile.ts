import { AppError } from "../../errors.ts";
import type { AuthConnectionSpec } from "../../resources/auth-connection.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchConnections } from "./fetch-connection.ts";

/**
 * The one place where the profile of a new connection is looked at, before `work` creates the connection: a profile has one connection
 * for a domain (CONNECTION-9), also when several callers ask at once. So far a profile is a name and nothing else. Throws `conflict`.
 */
export const withProfile = <T>(
  { spec: { profileName, domain }, project }: { spec: AuthConnectionSpec; project: Project },
  deps: Pick<ServiceDeps, "kube" | "locks">,
  work: () => Promise<T>,
): Promise<T> =>
  deps.locks.hold(["connection", project.namespace, profileName, domain], async () => {
    const rival = (await fetchConnections(project, deps)).find(
      ({ spec }) => spec.profileName === profileName && spec.domain.toLowerCase() === domain,
    );
    if (rival)
      throw new AppError("conflict", `profile ${profileName} has the connection ${rival.metadata.name} for ${domain}`);
    return work();
  });
