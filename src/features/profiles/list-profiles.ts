import type { Project } from "../../core/projects/projects.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { fetchProfiles } from "./fetch-profile.ts";
import type { Profile } from "./profile.ts";

/** `name`: exact. `query`: part of the name or the id, in any case. */
type ProfileQuery = { name?: string | undefined; query?: string | undefined };

/** The profiles that match the query, oldest first. */
export const listProfiles = async (
  { name, query = "" }: ProfileQuery,
  project: Project,
  deps: { kube: Kube },
): Promise<Profile[]> =>
  (await fetchProfiles(project, deps)).filter((profile) => {
    const own = wireName(profile) ?? "";
    if (name !== undefined && name !== own) return false;
    return `${own}\n${profile.metadata.name}`.toLowerCase().includes(query.toLowerCase());
  });
