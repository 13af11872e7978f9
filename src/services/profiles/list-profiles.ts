import { wireName } from "../../resources/identity.ts";
import type { Profile } from "../../resources/profile.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchProfiles } from "./fetch-profile.ts";

/** `name`: exact. `query`: part of the name or the id, in any case. */
type ProfileQuery = { name?: string | undefined; query?: string | undefined };

/** The profiles that match the query, oldest first. */
export const listProfiles = async (
  { name, query = "" }: ProfileQuery,
  project: Project,
  deps: Pick<ServiceDeps, "kube">,
): Promise<Profile[]> =>
  (await fetchProfiles(project, deps)).filter((profile) => {
    const own = wireName(profile) ?? "";
    if (name !== undefined && name !== own) return false;
    return `${own}\n${profile.metadata.name}`.toLowerCase().includes(query.toLowerCase());
  });
